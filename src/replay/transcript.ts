/**
 * A step in one to four lines: position, time and event; then only what changed: states, what may be seen, what is owed. Plain text,
 * the same on every machine, and the same for a redacted log: accounts are told by their order of appearance. It is the output of
 * the command line, the text of the viewer, and the golden files of the tests.
 */
import { RULES } from '../events/index.ts';
import {
  accountLabel,
  allRoutes,
  effectText,
  formatInstant,
  narrate,
  routeStatus,
  type Effect,
  type PublishedRoute,
  type State,
} from '../reconcile/index.ts';
import { effectLabel, isForeground, routeLabel } from './labels.ts';
import { effectOf } from './outcome.ts';
import { MarkCheck, type Difference, type Recording } from './recording.ts';
import { Player, type RouteChange, type Seen, type Step } from './steps.ts';

/** Version of the text, in its first line. */
export const TRANSCRIPT_VERSION = 1;
/** So many of a kind stand in one line; the rest is a number. */
const MAX_LISTED = 8;
const MARGIN = ' '.repeat(8);

export interface TranscriptOptions {
  /** First position that is told; what was before is played in silence. */
  readonly from?: number | undefined;
  /** Last position that is played. */
  readonly until?: number | undefined;
}

/** Lines of a recording: a header, the steps, and how things stand at the end. *Errors*: those of reading the log. */
export function* transcript(log: Recording, options: TranscriptOptions = {}): Generator<string, void, void> {
  const { from = 1, until = Infinity } = options;
  yield `dacapo transcript ${String(TRANSCRIPT_VERSION)}, rules ${RULES}`;
  const player = new Player();
  const marks = new MarkCheck(log.marks());
  for (const event of until < 1 ? [] : log.read()) {
    const step = player.play(event);
    if (event.position >= from) yield* stepLines(player.state, step);
    const difference = marks.after(event, () => player.stateHash());
    if (difference != null) yield `${MARGIN}mark   ${differenceText(difference)}`;
    // Not one further than asked for: the log may not hold there.
    if (event.position >= until) break;
  }
  yield* standingLines(player);
}

/** One to four lines. `state` is the state after the step. */
export function stepLines(state: State, step: Step): readonly string[] {
  const { event, remark, changed } = step;
  const sentence = narrate(event, null);
  const notes = [
    event.cause === null ? null : `begun at ${String(event.cause)}`,
    remark,
    changed ? null : 'changes nothing',
  ].filter((note) => note !== null);
  const head = `${String(event.position).padStart(6)}  ${formatInstant(event.at)}  ${sentence}${notes.length === 0 ? '' : ` [${notes.join(', ')}]`}`;
  const lines = [
    line('state', stateChanges(state, step)),
    line('table', tableChanges(state, step)),
    line('due', dueChanges(state, step)),
  ];
  return [head, ...lines.filter((text) => text !== null)];
}

function line(label: string, parts: readonly string[]): string | null {
  if (parts.length === 0) return null;
  const listed = parts.slice(0, MAX_LISTED);
  const more = parts.length > MAX_LISTED ? [`and ${String(parts.length - MAX_LISTED)} more`] : [];
  return `${MARGIN}${label.padEnd(6)} ${[...listed, ...more].join('; ')}`;
}

function stateChanges(state: State, step: Step): string[] {
  return [
    ...step.accounts.map(({ account, before, after }) => `${accountLabel(state, account)} ${moved(before, after)}`),
    ...step.routes.filter((change) => isTold(state, change)).map((change) => routeChange(state, change)),
    ...step.anomalies.map(({ type, account, connector, count }) => {
      const where =
        connector !== null
          ? routeLabel(state, { account, connector })
          : account === null
            ? null
            : accountLabel(state, account);
      return `anomaly ${type}${where === null ? '' : ` of ${where}`}${count > 1 ? ` (${String(count)} times)` : ''}`;
    }),
  ];
}

/** Of an account in the background only what could be seen before, or is still open. */
function isTold(state: State, change: RouteChange): boolean {
  const open = (seen: Seen | null): boolean => seen !== null && seen.state !== 'withheld' && seen.state !== 'faulted';
  return isForeground(state, change) || open(change.before) || open(change.after);
}

function routeChange(state: State, change: RouteChange): string {
  const { before, after } = change;
  return `${routeLabel(state, change)} ${moved(before === null ? null : seenText(before), seenText(after))}`;
}

const moved = (before: string | null, after: string): string => (before === null ? after : `${before} -> ${after}`);
const seenText = ({ state, reason }: Seen): string =>
  reason === null || reason === state ? state : `${state} (${reason})`;

function tableChanges(state: State, { published, withdrawn }: Step): string[] {
  return [
    ...withdrawn.map((route) => `- ${routeLabel(state, route)}`),
    ...published.map((route) => `+ ${routeLabel(state, route)} (${routeText(route)})`),
  ];
}

function routeText({ tools, stamp, connectionVersion }: PublishedRoute): string {
  const count = `${String(tools.count)} tool${tools.count === 1 ? '' : 's'}`;
  if (stamp === null) return count;
  const line = stamp.line === 0 ? '' : ` of line ${String(stamp.line)}`;
  return `${count}, revision ${stamp.revision}${line}, version ${connectionVersion ?? '?'}`;
}

/** What is owed now, and what is owed no longer, unless the event itself is its outcome. */
function dueChanges(state: State, { event, newlyDue, noLongerDue }: Step): string[] {
  const ended = effectOf(event);
  const ends = (effect: Effect): boolean => ended !== null && effectText(ended) === effectText(effect);
  return [
    ...newlyDue.map((effect) => `+ ${effectLabel(state, effect)}`),
    ...noLongerDue.filter((effect) => !ends(effect)).map((effect) => `- ${effectLabel(state, effect)}`),
  ];
}

/**
 * How things stand: the account, every route in the foreground, and what is owed. Not the state hash, which says more than anybody
 * can read and changes with every field of the fold: `replay --json` has it.
 */
function* standingLines(player: Player): Generator<string, void, void> {
  const { state, table } = player;
  const { position, now, active } = state.head;
  yield `after ${String(position)}, at ${formatInstant(now)}`;
  const account = active === null ? undefined : state.accounts.get(active.account);
  yield account === undefined
    ? `${MARGIN}nobody is signed in`
    : `${MARGIN}${accountLabel(state, account.account)} ${account.machine.value}, revision ${account.machine.context.floor ?? 'unread'}`;
  for (const route of allRoutes(state)) {
    if (!isForeground(state, route) && route.handles.length === 0) continue;
    const seen = routeStatus(state, route, table.entries);
    const shown = table.entries.get(`${route.account ?? ''}/${route.connector}`);
    yield `${MARGIN}${routeLabel(state, route)} ${seenText(seen)}${shown === undefined ? '' : ` (${routeText(shown)})`}`;
  }
  const owed = [...player.due()].map((effect) => effectLabel(state, effect));
  yield `${MARGIN}due: ${owed.length === 0 ? 'nothing' : owed.join('; ')}`;
}

/** One sentence on a state hash that is another one now. */
export function differenceText({ agreedUpTo, rules, binding }: Difference): string {
  const since = `the state is not the one that was recorded; they agreed up to ${String(agreedUpTo)}`;
  return binding ? since : `${since}, and may differ: recorded under rules ${rules}, or after a row that can't be read`;
}
