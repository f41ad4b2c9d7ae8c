/**
 * Who is at work: a map from an effect's identity to what can stop it. Still owed: left alone. No longer owed: told to stop, and its
 * outcome still awaited. Owed again meanwhile: waits for that outcome, so that no identity runs twice at once (law L14).
 */
import type { Fact, Stamp } from '../events/index.ts';
import { dueForAccount, dueForRoute, effectText, type Effect } from './due.ts';
import type { RouteName } from './liveTable.ts';
import { findRoute, routeKey, type State } from './state.ts';

/** What an effect is performed with. `startedAt` is the log position when it starts, `stamp` the route's at that moment. */
export interface PerformContext {
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly stamp: Stamp | null;
}

/** Performs an effect. Resolves with exactly one fact, also on failure and when told to stop. */
export type Perform = (effect: Effect, context: PerformContext) => Promise<Fact>;

interface Running {
  readonly effect: Effect;
  readonly controller: AbortController;
}

/** One for all: an abort without a reason makes an exception with a stack each time, and storms abort often. */
const NO_LONGER_OWED = new DOMException('the effect is no longer owed', 'AbortError');

const rank: Readonly<Record<Effect['kind'], number>> = { closeRoute: 0, fetchSnapshot: 1, openRoute: 2 };

export class Performing {
  readonly #perform: Perform;
  readonly #finish: (effect: Effect, fact: Fact, cause: number) => void;
  readonly #groups = new Map<string, Map<string, Running>>();

  constructor(perform: Perform, finish: (effect: Effect, fact: Fact, cause: number) => void) {
    this.#perform = perform;
    this.#finish = finish;
  }

  /** Starts what these owe and stops what they no longer owe. `onlyClosing`: the log is away, so nothing may be begun that asks to be seen. */
  refresh(state: State, routes: Iterable<RouteName>, accounts: Iterable<string>, onlyClosing: boolean): void {
    const begin: Effect[] = [];
    for (const name of routes) {
      const route = findRoute(state, name.account, name.connector);
      if (route !== undefined) begin.push(...this.#settle(routeGroup(name), dueForRoute(state, route)));
    }
    for (const account of accounts) begin.push(...this.#settle(accountGroup(account), dueForAccount(state, account)));
    for (const effect of begin.sort((a, b) => rank[a.kind] - rank[b.kind])) {
      if (!onlyClosing || effect.kind === 'closeRoute') this.#begin(state, effect);
    }
  }

  /** Aborts what a group no longer owes and returns what it owes and nobody does. */
  #settle(group: string, owed: readonly Effect[]): Effect[] {
    const running = this.#groups.get(group);
    if (running === undefined) return [...owed];
    const texts = new Set(owed.map(effectText));
    for (const [text, { controller }] of running) if (!texts.has(text)) abort(controller);
    return owed.filter((effect) => !running.has(effectText(effect)));
  }

  #begin(state: State, effect: Effect): void {
    const controller = new AbortController();
    const group = groupOf(effect);
    const running = this.#groups.get(group) ?? new Map<string, Running>();
    this.#groups.set(group, running.set(effectText(effect), { effect, controller }));
    const startedAt = state.head.position;
    const done = (fact: Fact): void => {
      running.delete(effectText(effect));
      if (running.size === 0 && this.#groups.get(group) === running) this.#groups.delete(group);
      this.#finish(effect, fact, startedAt);
    };
    const context = { signal: controller.signal, startedAt, stamp: stampOf(state, effect) };
    // A performer that throws has broken its promise; the effect still ends in one event, and its words are not trusted with the log.
    Promise.resolve()
      .then(() => this.#perform(effect, context))
      .then(
        (fact) => done(answers(effect, fact, controller.signal.aborted) ? fact : brokenOutcome(effect)),
        () => done(brokenOutcome(effect)),
      );
  }

  stop(): void {
    for (const group of this.#groups.values()) for (const { controller } of group.values()) abort(controller);
  }
}

function abort(controller: AbortController): void {
  if (!controller.signal.aborted) controller.abort(NO_LONGER_OWED);
}

const groupOf = (effect: Effect): string =>
  effect.kind === 'fetchSnapshot' ? accountGroup(effect.account) : routeGroup(effect);

const accountGroup = (account: string): string => `account ${account}`;
const routeGroup = ({ account, connector }: RouteName): string => `route ${routeKey(account, connector)}`;

function stampOf(state: State, effect: Effect): Stamp | null {
  if (effect.kind === 'fetchSnapshot') return null;
  return findRoute(state, effect.account, effect.connector)?.machine.context.read?.stamp ?? null;
}

const outcomes: Readonly<Record<Effect['kind'], readonly Fact['type'][]>> = {
  fetchSnapshot: ['snapshot.received', 'snapshot.failed'],
  openRoute: ['route.opened', 'route.openFailed'],
  closeRoute: ['route.closed'],
};

/** Whether a fact is the outcome of this effect. Another one would change nothing, and the effect would be owed again at once, without end. */
function answers(effect: Effect, fact: Fact, wasStopped: boolean): boolean {
  const { type, data } = fact;
  const told = data as Partial<Record<'account' | 'connector' | 'generation' | 'epoch', unknown>>;
  if (!outcomes[effect.kind].includes(type) || told.account !== effect.account || told.epoch !== effect.epoch)
    return false;
  // "Stopped" is no failure and is begun again without a pause: only we may have said so.
  if (fact.type === 'route.openFailed' && fact.data.reason === 'aborted' && !wasStopped) return false;
  return (
    effect.kind === 'fetchSnapshot' || (told.connector === effect.connector && told.generation === effect.generation)
  );
}

function brokenOutcome(effect: Effect): Fact {
  const reason = 'the performer failed without an outcome';
  if (effect.kind === 'fetchSnapshot') {
    return {
      type: 'snapshot.failed',
      data: { account: effect.account, epoch: effect.epoch, reason, retryAfterMs: null },
    };
  }
  const { account, connector, generation, epoch } = effect;
  const route = { account, connector, generation, epoch };
  if (effect.kind === 'closeRoute') return { type: 'route.closed', data: { ...route, reason } };
  return {
    type: 'route.openFailed',
    data: { ...route, reason: 'protocol', detail: reason, code: null, stamp: null, retryAfterMs: null },
  };
}
