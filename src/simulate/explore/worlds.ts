/**
 * The small worlds that are explored to the end. One world with everything in it would have no end; together they have two accounts,
 * two connectors that an account must have connected and one of the device, sign-outs, closings that take time, restores that are
 * announced and that are not, four revisions, replies that overtake each other, openings beside closings, lost and late hints,
 * refusals of the handle that is wanted and of one that was, and a kill.
 */
import type { SmallWorld } from './small.ts';

const still: Omit<SmallWorld, 'name' | 'about'> = {
  accounts: { ann: ['docs'] },
  bound: ['docs'],
  exempt: [],
  changes: [],
  depth: 0,
  restores: [],
  serverEpochs: false,
  hints: false,
  budget: {},
};

const changing: SmallWorld['changes'] = [
  ['ann', 'docs', 'revoke'],
  ['ann', 'docs', 'connect'],
  ['ann', 'docs', 'rotate'],
];

const switching: SmallWorld = {
  ...still,
  name: 'switching',
  about:
    'two accounts and a route of the device; three logins or sign-outs in the middle of anything, a revocation, a kill',
  accounts: { ann: ['docs'], bob: ['docs'] },
  exempt: ['files'],
  changes: [['ann', 'docs', 'revoke']],
  depth: 1,
  budget: { switches: 3, crashes: 1 },
};

/** Explored in every full run. */
export const fullWorlds: readonly SmallWorld[] = [switching];

/** The one that is small enough for every commit. */
export const shortWorlds: readonly SmallWorld[] = [switching];

/** Small enough to be tried on every mutant: a bug shows in the first thousands of states or not at all. */
export const quickWorlds: readonly SmallWorld[] = [
  { ...switching, name: 'quick-switching', budget: { switches: 2, crashes: 1, falseRejections: 1, exits: 1 } },
  {
    ...still,
    name: 'quick-changing',
    about: 'one route of one account whose server changes, is restored and contradicts itself',
    changes: [...changing, ['ann', 'docs', 'default']],
    depth: 3,
    restores: ['ann'],
    hints: true,
    budget: { falseRejections: 1, lateHints: 1, torn: 1, lagging: 1, cut: 1, resets: 1, drops: 1, bogusHints: 1 },
  },
];
