/**
 * The machine of one account + connector: may this route be wanted, and if not, why not. Its states are the reasons that a
 * person reads in `status` and `why`, so that no reason can be hidden and none can be two.
 *
 * Declared here, run by the table that `compile.ts` makes of it, proven against real XState by the oracle test. Only named guards
 * and assigns; time is evidence. DESIGN 5.3. What belongs to the account as a whole (signed out, never read in this epoch, too
 * long unread) is not known here: `reconcile/standing.ts` asks the account first.
 */
import { assign, setup, type StateValueFrom } from 'xstate';
import * as attempts from './attempts.ts';
import * as belief from './belief.ts';
import { needsAuthorization, type RouteEvidence } from './evidence.ts';
import { unread, type RouteContext } from './routeContext.ts';
import * as tombstone from './tombstone.ts';

interface Args {
  context: RouteContext;
}

const authorized = ({ context: { device } }: Args): boolean => device !== null && needsAuthorization(device);

/** Any evidence is taken in, and then the reasons are asked in one order: the first that applies is the state. */
const take = <T extends string>(action: T): { actions: T; target: '.settling' } => ({
  actions: action,
  target: '.settling',
});
const settle = <T extends string>(action: T): { actions: T; target: 'settling' } => ({
  actions: action,
  target: 'settling',
});

export const routeMachine = setup({
  types: { context: {} as RouteContext, events: {} as RouteEvidence },
  guards: {
    isAbsent: ({ context }) => context.device === null,
    isIncompatible: ({ context }) => context.device?.incompatible != null,
    isUnsupported: ({ context: { device } }) =>
      device !== null && device.kind !== 'remote' && device.authorization !== 'none',
    isDisabled: ({ context }) => context.device?.enabled === false,
    isDropped: ({ context }) => context.tombstone !== null,
    isUnknown: ({ context }) => authorized({ context }) && context.read === null,
    isUnreadable: ({ context }) => authorized({ context }) && context.unreadable,
    isReauth: ({ context }) => authorized({ context }) && context.read?.entry.state === 'reauth_required',
    isDisconnected: ({ context }) => authorized({ context }) && context.read?.entry.state === 'disconnected',
    isRegressed: ({ context }) => authorized({ context }) && context.regress !== null,
    isRejected: ({ context }) => context.overlay !== null,
    hasBrokenContract: ({ context }) => context.fault?.contract === true,
    isFaulted: ({ context }) => context.fault !== null,
  },
  actions: {
    install: assign(({ context, event }) => (event.type === 'device' ? belief.install(context, event) : context)),
    believe: assign(({ context, event }) => (event.type === 'read' ? belief.believe(context, event) : context)),
    garble: assign(({ context }) => belief.garble(context)),
    join: assign(({ context, event }) => (event.type === 'torn' ? belief.join(context, event) : context)),
    forget: assign(({ context }) => belief.forget(context)),
    reject: assign(({ context, event }) => (event.type === 'rejected' ? attempts.reject(context, event) : context)),
    bury: assign(({ context, event }) => (event.type === 'dropping' ? tombstone.bury(context, event) : context)),
    answerDrop: assign(({ context, event }) =>
      event.type === 'dropped' ? tombstone.answerDrop(context, event) : context,
    ),
    failDrop: assign(({ context, event }) =>
      event.type === 'dropFailed' ? tombstone.failDrop(context, event) : context,
    ),
    freeTombstone: assign(({ context }) => tombstone.freeTombstone(context)),
    settleOpen: assign(({ context, event }) =>
      event.type === 'opened' ? attempts.settleOpen(context, event) : context,
    ),
    fail: assign(({ context, event }) => (event.type === 'failed' ? attempts.fail(context, event) : context)),
    passTime: assign(({ context, event }) => (event.type === 'ticked' ? attempts.passTime(context, event) : context)),
  },
}).createMachine({
  id: 'route',
  context: unread,
  initial: 'not-installed',
  on: {
    device: take('install'),
    read: take('believe'),
    unreadable: take('garble'),
    torn: take('join'),
    adopted: take('forget'),
    rejected: take('reject'),
    dropping: take('bury'),
    dropped: take('answerDrop'),
    dropFailed: take('failDrop'),
    unreached: take('freeTombstone'),
    ticked: take('passTime'),
  },
  states: {
    settling: {
      always: [
        { guard: 'isAbsent', target: 'not-installed' },
        { guard: 'isIncompatible', target: 'incompatible' },
        { guard: 'isUnsupported', target: 'local-credential-unsupported' },
        { guard: 'isDisabled', target: 'disabled' },
        { guard: 'isDropped', target: 'dropped' },
        { guard: 'isUnreadable', target: 'unreadable' },
        { guard: 'isUnknown', target: 'unknown' },
        { guard: 'isReauth', target: 'reauth-required' },
        { guard: 'isDisconnected', target: 'disconnected' },
        { guard: 'isRegressed', target: 'regressed' },
        { guard: 'isRejected', target: 'rejected' },
        { guard: 'hasBrokenContract', target: 'contract' },
        { guard: 'isFaulted', target: 'faulted' },
        { target: 'wanted' },
      ],
    },
    'not-installed': {},
    incompatible: {},
    'local-credential-unsupported': {},
    disabled: {},
    dropped: {},
    unknown: {},
    unreadable: {},
    'reauth-required': {},
    disconnected: {},
    regressed: {},
    rejected: {},
    contract: {},
    faulted: {},
    wanted: { on: { opened: settle('settleOpen'), failed: settle('fail') } },
  },
});

/** States that a route can rest in: `wanted`, or the reason why not. */
export type RouteValue = Exclude<StateValueFrom<typeof routeMachine>, 'settling'>;
