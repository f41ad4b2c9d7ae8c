/**
 * An event as one sentence, from the point of view of one connector or of nobody in particular. Total over the catalogue and over
 * rows that can't be read. Names no account: a redacted log must tell the same story as the one it was made from.
 */
import { isUnknown, type Authorization, type EventType, type FactOf, type RecordedEvent } from '../events/index.ts';

type Teller = { readonly [T in EventType]: (data: FactOf<T>['data'], connector: string | null) => string };
type Snapshot = FactOf<'snapshot.received'>['data'];

/** A sentence names this many connectors; the rest is a number. */
const MAX_NAMED = 4;

const because = (reason: string | null | undefined): string => (reason == null || reason === '' ? '' : ` (${reason})`);

const tell: Teller = {
  'engine.started': (data) =>
    `the daemon started (version ${data.package}), so every handle and every sign-in before it ended`,
  'account.activated': ({ epoch }) => `an account was made the active one, as sign-in ${String(epoch)}`,
  'account.cleared': () => 'the account was signed out',
  'connector.installed': (data) =>
    data.incompatible === 'not-installed'
      ? `${data.connector} was looked for and is not installed`
      : `${data.connector} ${data.release.version} was reported as installed${data.enabled ? '' : ', switched off'}${data.incompatible === null ? '' : `, but it cannot run here${because(data.incompatible)}`}`,
  'connector.removed': (data) => `${data.connector} was removed from this device`,
  'connector.toggled': (data) => `${data.connector} was switched ${data.enabled ? 'on' : 'off'}`,
  'install.failed': (data) => `installing ${data.connector} failed at ${data.stage}${because(data.reason)}`,
  'snapshot.received': (data, connector) =>
    connector === null ? snapshotOverview(data) : snapshotSentence(data, connector),
  'snapshot.failed': ({ reason }) => `reading the account's authorizations failed${because(reason)}`,
  'hint.received': (data) =>
    `the server hinted that ${data.connector ?? 'something'} changed${data.revision === null ? '' : `, at revision ${data.revision}`}${data.count > 1 ? ` (${String(data.count)} hints)` : ''}`,
  'hints.opened': () => 'the channel of hints was opened, so hints may have been missed before it',
  'hints.lost': ({ reason }) => `the channel of hints was lost${because(reason)}`,
  'call.rejected': (data) => `a call to ${data.connector} was refused for lack of authorization (${String(data.code)})`,
  'connection.dropping': (data) => `the user began to disconnect ${data.connector} here`,
  'connection.dropped': (data) =>
    `the server confirmed that ${data.connector} is disconnected${data.revision === null ? '' : `, at revision ${data.revision}`}`,
  'connection.dropFailed': (data) => `disconnecting ${data.connector} failed${because(data.reason)}`,
  'authorization.ended': (data) =>
    `an authorization of ${data.connector} ended: ${data.outcome}${because(data.reason)}`,
  'clock.ticked': ({ reason }) =>
    reason === 'poll' ? 'it was time to read the account again' : 'a time that was waited for had come',
  'route.opened': (data) => `${data.connector} was opened with ${counted(data.tools.count, 'tool')}`,
  'route.openFailed': (data) =>
    `opening ${data.connector} failed: ${data.reason}${because(data.detail)}${data.code === null ? '' : `, code ${String(data.code)}`}`,
  'route.closed': (data) => `a handle of ${data.connector} was closed${because(data.reason)}`,
  'route.exited': (data) => `the process of ${data.connector} ended${because(data.reason)}`,
  'server.reset': () => 'an operator accepted that the server went back to an earlier revision',
};

const counted = (count: number, noun: string): string => `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
const spoken: Readonly<Record<Authorization, string>> = {
  connected: 'connected',
  disconnected: 'disconnected',
  reauth_required: 'to be authorized again',
};

function snapshotSentence(data: Snapshot, connector: string): string {
  // By own key only: a connector may be called "constructor".
  const entry = Object.hasOwn(data.entries, connector) ? data.entries[connector] : undefined;
  const at = `the snapshot at revision ${data.revision}`;
  if (entry === 'unreadable') return `${at} had an unreadable entry for ${connector}`;
  if (entry !== undefined)
    return `${at} said that ${connector} is ${spoken[entry.state]}, connection version ${entry.connectionVersion}`;
  return data.complete
    ? `${at} did not name ${connector}, so it is disconnected`
    : `${at}, not complete, did not name ${connector}`;
}

function snapshotOverview(data: Snapshot): string {
  const names = Object.keys(data.entries).sort();
  const said = names.slice(0, MAX_NAMED).map((name) => {
    const entry = data.entries[name];
    return entry === undefined || entry === 'unreadable'
      ? `${name} unreadable`
      : `${name} ${spoken[entry.state]} (version ${entry.connectionVersion})`;
  });
  const more = names.length > MAX_NAMED ? [`${String(names.length - MAX_NAMED)} more`] : [];
  const list = names.length === 0 ? 'no connector' : [...said, ...more].join(', ');
  const of = data.serverEpoch === null ? '' : ` of server epoch ${data.serverEpoch}`;
  return `the snapshot at revision ${data.revision}${of}${data.complete ? '' : ', not complete,'} named ${list}`;
}

/** One sentence, without a full stop. `connector` null: told for no connector in particular. */
export function narrate(event: RecordedEvent, connector: string | null): string {
  if (isUnknown(event) || !Object.hasOwn(tell, event.type)) return unreadable(event);
  const teller = tell[event.type as EventType] as (data: unknown, connector: string | null) => string;
  return teller(event.data, connector);
}

function unreadable(event: RecordedEvent): string {
  const redacted = isUnknown(event) && event.unknown === 'redacted';
  return redacted
    ? `"${event.type}" was recorded here, and its content was redacted afterwards`
    : `a newer version recorded "${event.type}", which this version cannot read`;
}
