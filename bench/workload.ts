/**
 * A log as a daemon would write it: accounts with connectors, hints, snapshots, rotations, refused calls, opens, closes, polls and
 * switches. The outcomes are those of a host that does what is owed at once; every event is valid and most of them matter.
 */
import { RULES, SCHEMA, uint64, type Fact, type LoggedEvent, type NewEvent } from '../src/events/index.ts';
import { due, evolve, initialState, type Effect } from '../src/reconcile/index.ts';

const CONNECTORS = Array.from({ length: 6 }, (_, i) => `connector-${String(i)}`);
const DIGEST = 'sha256-4f9c0c1d6f5e4b7a8d3c2b1a09f8e7d6';

/** `count` events, the same on every machine. */
export function* workload(count: number): Generator<LoggedEvent> {
  const state = initialState();
  const versions = new Map(CONNECTORS.map((connector) => [connector, 1]));
  let position = 0;
  let at = 1_700_000_000_000;
  let revision = 0;
  let epoch = 1;
  const record = (fact: Fact, cause: number | null): LoggedEvent => {
    position += 1;
    at += 20;
    return {
      ...fact,
      id: `event-${String(position).padStart(12, '0')}`,
      at,
      cause,
      position,
      schema: SCHEMA,
      rules: RULES,
    };
  };
  function* learn(fact: Fact, cause: number | null = null): Generator<LoggedEvent> {
    const event = record(fact, cause);
    evolve(state, event);
    yield event;
  }
  const snapshot = (): Fact => ({
    type: 'snapshot.received',
    data: {
      account: 'ann',
      epoch,
      startedAt: position,
      serverEpoch: uint64(1),
      revision: uint64(revision),
      complete: true,
      entries: Object.fromEntries(
        CONNECTORS.map((connector) => [
          connector,
          {
            state: 'connected',
            connectionVersion: uint64(versions.get(connector) ?? 1),
            connectionIdHash: 'c0ffee',
            releaseVersion: '1.0.0',
          },
        ]),
      ),
    },
  });
  function* settle(): Generator<LoggedEvent> {
    for (let owed = due(state); owed.length > 0; owed = due(state))
      for (const effect of owed) yield* learn(outcome(effect), position);
  }
  const outcome = (effect: Effect): Fact => {
    if (effect.kind === 'fetchSnapshot') return snapshot();
    const { account, connector, generation } = effect;
    const route = { account, connector, generation, epoch: effect.epoch };
    if (effect.kind === 'closeRoute') return { type: 'route.closed', data: { ...route, reason: 'withdrawn' } };
    return { type: 'route.opened', data: { ...route, tools: { count: 12, digest: DIGEST } } };
  };
  function* script(): Generator<LoggedEvent> {
    yield* learn({ type: 'engine.started', data: { boot: 'boot', package: '0.1.0', rules: RULES } });
    for (const connector of CONNECTORS) {
      const release = { version: '1.0.0', digest: DIGEST };
      yield* learn({
        type: 'connector.installed',
        data: { connector, release, kind: 'remote', authorization: 'api_key', enabled: true, incompatible: null },
      });
    }
    epoch = state.head.epochs + 1;
    yield* learn({ type: 'account.activated', data: { account: 'ann', epoch } });
    for (let round = 0; ; round++) {
      at += 2_000;
      yield* settle();
      const connector = CONNECTORS[round % CONNECTORS.length] as string;
      versions.set(connector, (versions.get(connector) ?? 0) + 1);
      revision += 1;
      yield* learn({
        type: 'hint.received',
        data: { account: 'ann', revision: uint64(revision), connector, incarnation: 'i1', count: 1 },
      });
      if (round % 7 === 0) yield* learn({ type: 'clock.ticked', data: { reason: 'poll' } });
      if (round % 5 === 0) {
        yield* learn({
          type: 'call.rejected',
          data: { account: 'ann', epoch, connector: 'connector-0', generation: 'late', stamp: null, code: -33002 },
        });
      }
      if (round % 500 === 499)
        yield* learn({ type: 'account.activated', data: { account: 'ann', epoch: (epoch = state.head.epochs + 1) } });
    }
  }
  for (const event of script()) {
    yield event;
    if (event.position >= count) return;
  }
}

/** As the edge hands it in, before the log gives it a place. */
export const asNew = ({ type, data, id, at, cause }: LoggedEvent): NewEvent =>
  ({ type, data, id, at, cause }) as NewEvent;
