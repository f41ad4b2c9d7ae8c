/**
 * The shortest way to a state, told twice: as a transcript, which is how people read a log, and as a test to paste, which is how a
 * counter-example becomes a fixture. Both come from making the same moves once more on the shipped core.
 */
import type { FactOf, LoggedEvent, Payload } from '../../events/index.ts';
import { recordingOf, transcript } from '../../replay/index.ts';
import type { Violation } from '../law.ts';
import { movesOf } from './moves.ts';
import type { SmallWorld } from './small.ts';
import { Stage } from './stage.ts';

export interface Trace {
  /** Moves from the beginning. */
  readonly steps: number;
  readonly events: readonly LoggedEvent[];
  readonly transcript: string;
  readonly test: string;
}

/** Makes the moves again. `way` are the places of the moves in the list of each state. */
export function traceOf(world: SmallWorld, way: readonly number[], broken: Omit<Violation, 'position'>): Trace {
  const stage = new Stage(world);
  const events = [...stage.begun];
  for (const place of way) {
    const move = movesOf(stage)[place];
    if (move === undefined) throw new RangeError(`no move ${String(place)} here: the way is of another world`);
    stage.apply(move);
    events.push(...stage.events);
  }
  const lines = [...transcript(recordingOf(events)), `${broken.law}: ${broken.text}`];
  return { steps: way.length, events, transcript: lines.join('\n'), test: testOf(events, broken) };
}

/** A test in the words of the scenarios of this repository. */
function testOf(events: readonly LoggedEvent[], { law, text }: Omit<Violation, 'position'>): string {
  const lines: string[] = [];
  let at = events[0]?.at ?? 0;
  // A scenario begins with the first start by itself.
  for (const event of events.slice(1)) {
    if (event.at > at) lines.push(`s.now += ${String(event.at - at)};`);
    at = event.at;
    lines.push(`s.${wordOf(event)};`);
  }
  const body = ['const s = new Scenario();', ...lines, 'expect(brokenLaws(s.log)).toEqual([]);'];
  return [`test(${quoted(`${law}: ${text}`)}, () => {`, ...body.map((one) => `  ${one}`), '});'].join('\n');
}

function wordOf(event: LoggedEvent): string {
  switch (event.type) {
    case 'engine.started':
      return 'restart()';
    case 'connector.installed':
      return installedWord(event.data);
    case 'account.activated':
      return `signIn(${quoted(event.data.account)})`;
    case 'account.cleared':
      return 'signOut()';
    case 'snapshot.received':
      return readWord(event.data);
    case 'hint.received':
      return `hint(${event.data.revision ?? 'null'}, ${quoted(event.data.account)})`;
    case 'call.rejected': {
      const { connector, generation, account, epoch } = event.data;
      return `reject(${quoted(connector)}, ${quoted(generation)}, ${JSON.stringify({ account, epoch })})`;
    }
    case 'connection.dropped':
      return droppedWord(event);
    default:
      return `learn(${JSON.stringify({ type: event.type, data: event.data })})`;
  }
}

function installedWord({ connector, kind, authorization, release }: Payload<'connector.installed'>): string {
  return `installed(${quoted(connector)}, ${JSON.stringify({ kind, authorization, digest: release.digest })})`;
}

function readWord({
  revision,
  entries,
  complete,
  account,
  epoch,
  startedAt,
  serverEpoch,
}: Payload<'snapshot.received'>): string {
  const said = Object.entries(entries).map(([connector, entry]) => `${connector}: ${entryWord(entry)}`);
  const more = [
    ...(complete ? [] : ['complete: false']),
    ...(serverEpoch === null ? [] : [`serverEpoch: uint64(${serverEpoch})`]),
    ...[`account: ${quoted(account)}`, `epoch: ${String(epoch)}`, `startedAt: ${String(startedAt)}`],
  ];
  return `read(${revision}, { ${said.join(', ')} }, { ${more.join(', ')} })`;
}

function entryWord(entry: Payload<'snapshot.received'>['entries'][string]): string {
  if (entry === 'unreadable') return "'unreadable'";
  const word = entry.state === 'reauth_required' ? 'reauth' : entry.state;
  return `${word}(${entry.connectionVersion}, ${quoted(String(entry.connectionIdHash))})`;
}

function droppedWord({ type, data }: FactOf<'connection.dropped'>): string {
  const { account, epoch, connector, revision } = data;
  const named = `account: ${quoted(account)}, epoch: ${String(epoch)}, connector: ${quoted(connector)}`;
  return `learn({ type: ${quoted(type)}, data: { ${named}, revision: ${revision === null ? 'null' : `uint64(${revision})`} } })`;
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
