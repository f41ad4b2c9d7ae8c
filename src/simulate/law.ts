/** The laws by number, and what is said when one is broken. The sentences stand in docs/LAWS.md. */
export const laws = {
  L1: "only the active account's routes are published",
  L2: 'nothing account-bound before a read of this epoch has spoken about it',
  L3: 'a shown stamp never goes back',
  L4: 'on a tie between reads, closed wins',
  L5: 'a rejection withdraws in the same turn and is lifted only by a later read that says connected',
  L6: 'a rejection of another epoch or generation changes nothing',
  L7: 'a handle of one epoch or generation is never published under another',
  L8: 'withdraw before the disk, publish after it, and only shrink while the log is away',
  L9: 'in a calm world the table is what is connected, installed, enabled and compatible, and nothing is due',
  L10: 'L9 holds with every hint lost, given the poll',
  L11: 'a wish is cleared only by an accepted, complete read begun at or after it',
  L12: 'a crash at any point changes nothing but handles, epoch and the count of effects',
  L13: 'the same log gives the same state, table and due',
  L14: 'every effect ends in exactly one event, and no identity runs twice at once',
  L15: 'exempt routes keep their handle through every account event',
  L16: 'no secret can be in an event',
  L17: 'a tools/call reaches the upstream at most once',
  L18: 'a change of version, connection or release reopens the route with a fresh list',
  L19: 'one slow or broken connector delays or hides no other',
} as const;

export type Law = keyof typeof laws;
export const lawNames: readonly Law[] = Object.keys(laws) as Law[];

/** A law that did not hold. `core`: the core threw. `position`: of the log, where it showed. */
export interface Violation {
  readonly law: Law | 'core';
  readonly position: number;
  readonly text: string;
}
