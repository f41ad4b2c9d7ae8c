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

const household: SmallWorld = {
  ...switching,
  name: 'household',
  about: 'two accounts with two connectors each and a route of the device; two logins or sign-outs, a revocation',
  accounts: { ann: ['docs', 'mail'], bob: ['docs', 'mail'] },
  bound: ['docs', 'mail'],
  budget: { switches: 2 },
};

/** Four revisions, of which any older one may be answered late, and hints that are lost, repeated or late. */
const restoring: SmallWorld = {
  ...still,
  name: 'restoring',
  about: 'a server that changes and is restored without saying so, a reply of a replica that is behind, a kill',
  changes: changing,
  depth: 3,
  restores: ['ann'],
  hints: true,
  budget: { lagging: 1, crashes: 1 },
};

const announcing: SmallWorld = {
  ...restoring,
  name: 'announcing',
  about: 'a server that numbers its lives, so that a restored one says so; a refusal that no change explains',
  serverEpochs: true,
  budget: { falseRejections: 1 },
};

const neighbours: SmallWorld = {
  ...still,
  name: 'neighbours',
  about: 'two connectors of one account, each changing while the other one does; a kill',
  accounts: { ann: ['docs', 'mail'] },
  bound: ['docs', 'mail'],
  changes: [
    ['ann', 'docs', 'revoke'],
    ['ann', 'docs', 'connect'],
    ['ann', 'mail', 'rotate'],
  ],
  depth: 3,
  hints: true,
  budget: { crashes: 1 },
};

const refusing: SmallWorld = {
  ...still,
  name: 'refusing',
  about: 'refusals that no change explains, two in a row, while the connection changes and its process dies',
  changes: changing,
  depth: 3,
  budget: { falseRejections: 2, exits: 1 },
};

const dropping: SmallWorld = {
  ...still,
  name: 'dropping',
  about: 'a disconnect made here that is answered early, late, in vain or never, with a refusal and a kill',
  changes: changing,
  depth: 3,
  budget: { drops: 1, falseRejections: 1, crashes: 1 },
};

const contradicting: SmallWorld = {
  ...still,
  name: 'contradicting',
  about: 'a server that says two things at one revision, garbles a line and cuts a reply',
  changes: changing,
  depth: 2,
  hints: true,
  budget: { torn: 1, garbled: 1, cut: 1 },
};

/** Explored in every full run, each to its last state. */
export const fullWorlds: readonly SmallWorld[] = [
  switching,
  household,
  neighbours,
  restoring,
  announcing,
  refusing,
  dropping,
  contradicting,
];

/** Those that are small enough for every commit: accounts, connectors, restores announced and not. */
export const shortWorlds: readonly SmallWorld[] = [
  { ...household, name: 'short-household', budget: { switches: 1, crashes: 1 } },
  neighbours,
  { ...restoring, name: 'short-restoring', budget: {} },
  { ...announcing, name: 'short-announcing', budget: { crashes: 1 } },
  { ...refusing, name: 'short-refusing', budget: { falseRejections: 1, crashes: 1 } },
  { ...dropping, name: 'short-dropping', budget: { drops: 1 } },
];

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
  {
    ...still,
    name: 'quick-hinting',
    about: 'one route whose server is named a revision that it never reaches; small enough to be explored to the end',
    changes: [['ann', 'docs', 'rotate']],
    depth: 1,
    budget: { bogusHints: 1 },
  },
];
