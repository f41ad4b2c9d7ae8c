/** The crash table as data: what is done to a log, how often in the short and in the long form, and what may come of it. */
import type { Verdict } from './judge.ts';
import type { LifeName } from './workload.ts';

export interface Row {
  readonly name: string;
  readonly how:
    | 'kill'
    | 'half'
    | 'fail'
    | 'full'
    | 'unsynced'
    | 'cut'
    | 'cut-after-failed-sync'
    | 'cut-in-recovery'
    | 'frames'
    | 'bits';
  readonly life: LifeName;
  /** Set by the test's own hand behind the product's back; FULL where absent. */
  readonly synchronous?: 'NORMAL' | 'OFF';
  /** Points tried, spread over all there are; `Infinity` for each of them. */
  readonly short: number;
  readonly long: number;
  readonly allows: readonly Verdict[];
  /** One of these must come up, or the row has tested nothing. */
  readonly needs: readonly Verdict[];
}

const held = { allows: ['held'], needs: ['held'] } as const;

export const matrix: readonly Row[] = [
  { name: 'killed before an operation', how: 'kill', life: 'whole', short: 10, long: Infinity, ...held },
  { name: 'killed before, while migrating', how: 'kill', life: 'brief', short: 6, long: Infinity, ...held },
  { name: 'killed in the middle of a write', how: 'half', life: 'whole', short: 10, long: Infinity, ...held },
  { name: 'killed in the middle, migrating', how: 'half', life: 'brief', short: 6, long: Infinity, ...held },
  { name: 'an operation fails', how: 'fail', life: 'whole', short: 40, long: Infinity, ...held },
  { name: 'an operation fails, migrating', how: 'fail', life: 'brief', short: 30, long: Infinity, ...held },
  { name: 'no space from here on', how: 'full', life: 'whole', short: 40, long: Infinity, ...held },
  { name: 'no space, migrating', how: 'full', life: 'brief', short: 30, long: Infinity, ...held },
  { name: 'no sync works from here on', how: 'unsynced', life: 'whole', short: 20, long: Infinity, ...held },
  { name: 'no sync works, migrating', how: 'unsynced', life: 'brief', short: 12, long: Infinity, ...held },
  { name: 'power cut', how: 'cut', life: 'whole', short: 250, long: 8_000, ...held },
  { name: 'power cut, migrating', how: 'cut', life: 'brief', short: 200, long: 4_000, ...held },
  {
    name: 'power cut after a failed sync',
    how: 'cut-after-failed-sync',
    life: 'whole',
    short: 120,
    long: 4_000,
    ...held,
  },
  { name: 'the same, migrating', how: 'cut-after-failed-sync', life: 'brief', short: 60, long: 1_000, ...held },
  { name: 'power cut in a recovery', how: 'cut-in-recovery', life: 'whole', short: 200, long: 4_000, ...held },
  {
    ...{
      name: 'control: power cut at NORMAL',
      how: 'cut',
      life: 'whole',
      synchronous: 'NORMAL',
      short: 150,
      long: 2_000,
    },
    ...{ allows: ['held', 'lost'], needs: ['lost'] },
  },
  {
    ...{ name: 'control: power cut at OFF', how: 'cut', life: 'whole', synchronous: 'OFF', short: 150, long: 2_000 },
    ...{ allows: ['held', 'lost', 'detected', 'wrong'], needs: ['lost', 'detected'] },
  },
  {
    ...{ name: 'WAL cut off at every frame', how: 'frames', life: 'brief', short: Infinity, long: Infinity },
    ...{ allows: ['held', 'lost'], needs: ['lost'] },
  },
  {
    ...{ name: 'a bit flipped', how: 'bits', life: 'brief', short: 12_500, long: Infinity },
    ...{ allows: ['held', 'detected'], needs: ['detected'] },
  },
  {
    ...{ name: 'a bit flipped, compacted', how: 'bits', life: 'whole', short: 300, long: 10_000 },
    ...{ allows: ['held', 'detected'], needs: ['detected'] },
  },
];

/** What is tried together: the process dies or is refused, the machine does, or what lay on the disk is not what was written. */
export const groupOf = ({ how }: Row): 'kills' | 'cuts' | 'damage' => {
  if (how === 'frames' || how === 'bits') return 'damage';
  return how.startsWith('cut') ? 'cuts' : 'kills';
};
