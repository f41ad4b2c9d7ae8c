/** The laws over one move and over one state of a small world. */
import { generationOf, type RouteContext } from '../../machines/index.ts';
import {
  dueForAccount,
  dueForRoute,
  evolve,
  project,
  type PublishedRoute,
  type RouteRecord,
  type State,
} from '../../reconcile/index.ts';
import { RULES, SCHEMA, type Fact, type LoggedEvent } from '../../events/index.ts';
import { accountStep, routeOwes, routeStep, type Broken } from '../transition.ts';

import { routeMembers } from './encode.ts';
import type { Saved, Stage } from './stage.ts';

/** What a move must not have done. `before`: where it was made. */
export function judgeMove(stage: Stage, before: Saved): Broken {
  const { events, turns, slots, state } = stage;
  if (events.length === 0) return null;
  for (let slot = 0; slot < slots.length; slot++) {
    const [from, to] = [before.routes[slot]!, stage.routes[slot]!];
    if (from === to) continue;
    const broken = stepThrough(stage, before, (event, around) => routeStep(event, from, to, around));
    if (broken !== null) return broken;
  }
  for (let i = 0; i < stage.accounts.length; i++) {
    const to = stage.accounts[i]!;
    const from = before.accounts[i]!;
    if (from === to) continue;
    const broken = accountStep(events.at(-1)!, from.machine.context, to.machine.context, state.head.now);
    if (broken !== null) return broken;
  }
  return lateWords(stage, before) ?? exemptRest(stage, before) ?? afterStart(stage, before, turns.length);
}

type StepOf = (event: LoggedEvent, around: { readonly current: boolean; readonly nowMs: number }) => Broken;

/** A move is one event, or a start with the reports after it, of which the start is the one that decides. */
function stepThrough({ events, state }: Stage, before: Saved, step: StepOf): Broken {
  const event = events[0]!;
  const { data } = event;
  const { active } = before.head;
  const current =
    'account' in data && 'epoch' in data && data.account === active?.account && data.epoch === active?.epoch;
  return step(event, { current, nowMs: state.head.now });
}

/** What another login or generation has to say changes nothing (law L6). */
function lateWords({ events, turns, state }: Stage, before: Saved): Broken {
  const event = events[0]!;
  const { active, now } = before.head;
  if (state.head.now !== now || !('epoch' in event.data)) return null;
  if (event.type === 'account.activated' || event.type === 'account.cleared' || event.type.startsWith('route.'))
    return null;
  const named = 'account' in event.data ? event.data.account : null;
  if (named === null) return null;
  const late = named !== active?.account || event.data.epoch !== active.epoch;
  return late && turns[0]!.changed ? ['L6', `a late ${event.type} changed something`] : null;
}

/** Nothing that concerns an account touches a route of this device (law L15). */
function exemptRest(stage: Stage, before: Saved): Broken {
  const event = stage.events[0]!;
  const local = event.type.startsWith('route.') && 'account' in event.data && event.data.account === null;
  if (local || event.type === 'engine.started' || event.type === 'connector.installed' || event.type === 'clock.ticked')
    return null;
  for (let slot = 0; slot < stage.slots.length; slot++) {
    if (stage.slots[slot]!.account !== null) continue;
    const record = stage.routes[slot]!;
    if (record.handles !== before.routes[slot]!.handles)
      return ['L15', `a ${event.type} moved a handle of this device`];
    const shown = before.table[slot];
    if (shown !== null && project(stage.state, record)?.generation !== shown?.generation)
      return ['L15', `a ${event.type} withdrew a route of this device`];
  }
  return null;
}

const members = Object.keys(routeMembers) as (keyof RouteContext)[];

/** A start takes handles and logins away, and nothing else (law L12). */
function afterStart(stage: Stage, before: Saved, events: number): Broken {
  if (stage.events[0]!.type !== 'engine.started' || events === 0) return null;
  for (let slot = 0; slot < stage.slots.length; slot++) {
    const [from, to] = [before.routes[slot]!, stage.routes[slot]!];
    if (to.handles.length > 0 || to.fence !== from.fence) return ['L12', 'a start kept a handle or lost a fence'];
    const [known, still] = [from.machine.context, to.machine.context];
    for (const key of members)
      if (key !== 'device' && known[key] !== still[key]) return ['L12', `a start changed ${key}`];
  }
  return null;
}

/** What must hold in a state. `before`: the state it was reached from, in which the same was asked. */
export function judgeState(stage: Stage, before: Saved | null): Broken {
  for (let slot = 0; slot < stage.slots.length; slot++) {
    if (before !== null && isUntouched(stage, before, slot)) continue;
    const broken = judgeSlot(stage, slot);
    if (broken !== null) return broken;
  }
  if (!isFetching(stage)) return ['L14', 'a snapshot is owed that nobody was told to fetch'];
  return stage.state.head.position % PROBE_EVERY === 0 ? lateProbe(stage) : null;
}

/** A late refusal is tried on every so many states: each would cost as much as all the rest. */
const PROBE_EVERY = 8;

/**
 * Nothing that a route's visibility is derived from is different: its record, the login, what the account's machine says and its line, the start
 * that the device was reported in. Whether a turn named every route it changed is asked of all the others.
 */
function isUntouched(stage: Stage, before: Saved, slot: number): boolean {
  const { state, accounts } = stage;
  const { owner } = stage.slots[slot]!;
  if (before.routes[slot] !== stage.routes[slot]! || before.table[slot] !== stage.table[slot]) return false;
  if (before.head.boot !== state.head.boot || before.head.active !== state.head.active) return false;
  if (owner < 0) return true;
  const [from, to] = [before.accounts[owner]!.machine, accounts[owner]!.machine];
  return from.value === to.value && from.context.line === to.context.line;
}

function judgeSlot(stage: Stage, slot: number): Broken {
  const { state } = stage;
  const record = stage.routes[slot]!;
  const shown = stage.table[slot]!;
  const wrong = shown === null ? null : (ownerOf(state, shown) ?? handleOwes(record, shown));
  if (wrong !== null) return wrong;
  const derived = project(state, record);
  if (derived?.generation !== shown?.generation || derived?.epoch !== shown?.epoch)
    return ['L13', 'the table is not what the state says: a turn did not name a route that it changed'];
  const broken = routeOwes(state, record);
  if (broken !== null) return broken;
  return isBegun(stage, slot) ? null : ['L14', 'something is owed that nobody was told to do'];
}

/** What is shown is of the account, the login and the line of the server that hold (laws L1, L3, L7). */
function ownerOf({ head, accounts }: State, { account, epoch, stamp }: PublishedRoute): Broken {
  const { active, boot } = head;
  if (account !== null && account !== active?.account) return ['L1', 'a route of another account is shown'];
  if (epoch !== (account === null ? boot : active?.epoch)) return ['L7', 'a handle of another login is shown'];
  if (account === null || stamp?.line === accounts.get(account)?.machine.context.line) return null;
  return ['L3', 'a route is shown of a line of the server that was left'];
}

/** What is shown is the handle that is wanted, of a connection that is believed to be open (laws L4, L7). */
function handleOwes({ account, machine: { context } }: RouteRecord, { generation }: PublishedRoute): Broken {
  if (generation !== generationOf(context)) return ['L7', 'a handle of another generation is shown'];
  const closed = account !== null && context.read?.entry.state !== 'connected';
  return closed ? ['L4', 'a route is shown that is not believed to be connected'] : null;
}

function isBegun(stage: Stage, slot: number): boolean {
  for (const owed of dueForRoute(stage.state, stage.routes[slot]!)) if (!stage.isAtWork(slot, owed)) return false;
  return true;
}

function isFetching({ state, names, around }: Stage): boolean {
  for (const account of names)
    for (const { epoch } of dueForAccount(state, account))
      if (!around.fetches.some((fetch) => fetch.account === account && fetch.epoch === epoch)) return false;
  return true;
}

/** A refusal of another generation, or of another login, is tried on the state: it must change nothing (law L6). */
function lateProbe(stage: Stage): Broken {
  const { state, slots } = stage;
  const { active, position } = state.head;
  const slot = slots.findIndex(({ account }) => account !== null && account === active?.account);
  if (active === null || slot < 0) return null;
  const { connector } = slots[slot]!;
  const generation = generationOf(stage.routes[slot]!.machine.context);
  const word =
    position % 2 === 0
      ? { generation: `${generation}x`, epoch: active.epoch }
      : { generation, epoch: active.epoch - 1 };
  const fact: Fact = {
    type: 'call.rejected',
    data: { account: active.account, connector, ...word, stamp: null, code: 428 },
  };
  const event = {
    ...fact,
    position: position + 1,
    id: 'e',
    at: state.head.now,
    cause: null,
    schema: SCHEMA,
    rules: RULES,
  };
  const turn = evolve(state, event as LoggedEvent);
  const { changed } = turn;
  turn.takeBack();
  return changed ? ['L6', 'a refusal of another login or generation changed something'] : null;
}

/** The world is calm and right: the table is the truth, nothing is owed, wanted or under way (law L9). */
export function hasConverged(stage: Stage): boolean {
  const { around, slots, table, state } = stage;
  const { active } = state.head;
  if (around.works.length + around.fetches.length + around.drops.length > 0) return false;
  if ((active?.account ?? null) !== around.login) return false;
  const context = active === null ? undefined : state.accounts.get(active.account)?.machine.context;
  if (context !== undefined && (context.wish !== null || context.wanted !== null || context.dissents !== null))
    return false;
  return slots.every(({ account }, slot) => {
    const should = account === null || (account === around.login && stage.isServed(slot));
    return (table[slot] !== null) === should;
  });
}
