/**
 * The machine of one account: may its routes be asked for, and how old is what is known. Declared here, run by the compiled table,
 * proven against real XState like the route machine. DESIGN 5.3.
 */
import { assign, setup, type StateValueFrom } from 'xstate';
import type { AccountEvidence } from './evidence.ts';
import * as hydration from './hydration.ts';
import type { AccountContext } from './hydration.ts';

const take = <T extends string>(action: T): { actions: T; target: '.settling' } => ({
  actions: action,
  target: '.settling',
});

export const accountMachine = setup({
  types: { context: {} as AccountContext, events: {} as AccountEvidence },
  guards: {
    isSignedOut: ({ context }) => context.epoch === null,
    isExpired: ({ context }) => context.age === 'expired',
    isDissenting: ({ context }) => context.dissents !== null,
    isHydrating: ({ context }) => context.acceptedAtMs === null,
    isStale: ({ context }) => context.age === 'stale',
  },
  actions: {
    activate: assign(({ context, event }) =>
      event.type === 'activated' ? hydration.activate(context, event) : context,
    ),
    leave: assign(({ context }) => hydration.leave(context)),
    accept: assign(({ context, event }) => (event.type === 'accepted' ? hydration.accept(context, event) : context)),
    adopt: assign(({ context, event }) => (event.type === 'adopted' ? hydration.adopt(context, event) : context)),
    dissent: assign(({ context, event }) => (event.type === 'dissented' ? hydration.dissent(context, event) : context)),
    refuse: assign(({ context, event }) => (event.type === 'refused' ? hydration.refuse(context, event) : context)),
    fail: assign(({ context, event }) => (event.type === 'failed' ? hydration.fail(context, event) : context)),
    heed: assign(({ context, event }) => (event.type === 'hinted' ? hydration.heed(context, event) : context)),
    wish: assign(({ context, event }) => (event.type === 'wished' ? hydration.wish(context, event) : context)),
    reset: assign(({ context, event }) => (event.type === 'reset' ? hydration.reset(context, event) : context)),
    grow: assign(({ context, event }) => (event.type === 'ticked' ? hydration.grow(context, event) : context)),
  },
}).createMachine({
  id: 'account',
  context: hydration.unheard,
  initial: 'signed-out',
  on: {
    activated: take('activate'),
    // An operator may accept a reset server while nobody is signed in.
    reset: take('reset'),
  },
  states: {
    settling: {
      always: [
        { guard: 'isSignedOut', target: 'signed-out' },
        { guard: 'isExpired', target: 'expired' },
        { guard: 'isDissenting', target: 'dissenting' },
        { guard: 'isHydrating', target: 'hydrating' },
        { guard: 'isStale', target: 'stale' },
        { target: 'synced' },
      ],
    },
    'signed-out': {},
    hydrating: { on: heard() },
    synced: { on: heard() },
    stale: { on: heard() },
    dissenting: { on: heard() },
    expired: { on: heard() },
  },
});

/** What an active account listens to. Signed out, all of it is void: a late reply must not sign anybody in again. */
function heard() {
  const settle = <T extends string>(action: T): { actions: T; target: 'settling' } => ({
    actions: action,
    target: 'settling',
  });
  return {
    left: settle('leave'),
    accepted: settle('accept'),
    adopted: settle('adopt'),
    dissented: settle('dissent'),
    refused: settle('refuse'),
    failed: settle('fail'),
    hinted: settle('heed'),
    wished: settle('wish'),
    ticked: settle('grow'),
  };
}

/** States that an account can rest in. */
export type AccountValue = Exclude<StateValueFrom<typeof accountMachine>, 'settling'>;
