/**
 * An event as one sentence, from the point of view of one connector. Total over the catalogue. Names no account: a redacted log
 * must tell the same story as the one it was made from.
 */
import type { EventType, FactOf, RecordedEvent } from '../events/index.ts';

type Teller = { readonly [T in EventType]: (data: FactOf<T>['data'], connector: string) => string };

const because = (reason: string | null | undefined): string => (reason == null || reason === '' ? '' : ` (${reason})`);

const tell: Teller = {
  'engine.started': (data) =>
    `the daemon started (version ${data.package}), so every handle and every sign-in before it ended`,
  'account.activated': ({ epoch }) => `an account was made the active one, as sign-in ${String(epoch)}`,
  'account.cleared': () => 'the account was signed out',
  'connector.installed': (data) =>
    `${data.connector} ${data.release.version} was reported as installed${because(data.incompatible)}${data.enabled ? '' : ', switched off'}`,
  'connector.removed': (data) => `${data.connector} was removed from this device`,
  'connector.toggled': (data) => `${data.connector} was switched ${data.enabled ? 'on' : 'off'}`,
  'install.failed': (data) => `installing ${data.connector} failed at ${data.stage}${because(data.reason)}`,
  'snapshot.received': snapshotSentence,
  'snapshot.failed': ({ reason }) => `reading the account's authorizations failed${because(reason)}`,
  'hint.received': (data) =>
    `the server hinted that ${data.connector ?? 'something'} changed${data.revision === null ? '' : `, at revision ${data.revision}`}${data.count > 1 ? ` (${String(data.count)} hints)` : ''}`,
  'hints.opened': () => 'the channel of hints was opened, so hints may have been missed before it',
  'hints.lost': ({ reason }) => `the channel of hints was lost${because(reason)}`,
  'call.rejected': (data) => `a call to ${data.connector} was refused for lack of authorization (${String(data.code)})`,
  'connection.dropping': (data) => `${data.connector} was being disconnected from here`,
  'connection.dropped': (data) =>
    `the server confirmed that ${data.connector} is disconnected${data.revision === null ? '' : `, at revision ${data.revision}`}`,
  'connection.dropFailed': (data) => `disconnecting ${data.connector} failed${because(data.reason)}`,
  'authorization.ended': (data) =>
    `an authorization of ${data.connector} ended: ${data.outcome}${because(data.reason)}`,
  'clock.ticked': ({ reason }) =>
    reason === 'poll' ? 'it was time to read the account again' : 'a time that was waited for had come',
  'route.opened': (data) => `${data.connector} was opened with ${String(data.tools.count)} tools`,
  'route.openFailed': (data) =>
    `opening ${data.connector} failed: ${data.reason}${because(data.detail)}${data.code === null ? '' : `, code ${String(data.code)}`}`,
  'route.closed': (data) => `a handle of ${data.connector} was closed${because(data.reason)}`,
  'route.exited': (data) => `the process of ${data.connector} ended${because(data.reason)}`,
  'server.reset': () => 'an operator accepted that the server went back to an earlier revision',
};

function snapshotSentence(data: FactOf<'snapshot.received'>['data'], connector: string): string {
  const entry = data.entries[connector];
  const at = `the snapshot at revision ${data.revision}`;
  if (entry === 'unreadable') return `${at} had an unreadable entry for ${connector}`;
  if (entry !== undefined)
    return `${at} said that ${connector} is ${entry.state.replaceAll('_', ' ')}, connection version ${entry.connectionVersion}`;
  return data.complete
    ? `${at} did not name ${connector}, so it is disconnected`
    : `${at}, not complete, did not name ${connector}`;
}

/** One sentence, without a full stop. A row of a newer version is told as such. */
export function narrate(event: RecordedEvent, connector: string): string {
  if (!Object.hasOwn(tell, event.type))
    return `a newer version recorded "${event.type}", which this version cannot read`;
  const teller = tell[event.type as EventType] as (data: unknown, connector: string) => string;
  return teller(event.data, connector);
}
