/** What 100,000 routes of 100 accounts hold on the heap, folded from snapshots; by the collector's own count before and after. */
import { RULES, SCHEMA, uint64, type Fact, type LoggedEvent } from '../src/events/index.ts';
import { evolve, initialState, type State } from '../src/reconcile/index.ts';
import { round } from './measure.ts';

const ACCOUNTS = 100;
const CONNECTORS = Array.from({ length: 1_000 }, (_, i) => `connector-${String(i)}`);

const install = (connector: string): Fact => ({
  type: 'connector.installed',
  data: {
    connector,
    release: { version: '1.0.0', digest: 'sha256-4f9c0c1d6f5e4b7a' },
    kind: 'remote',
    authorization: 'api_key',
    enabled: true,
    incompatible: null,
  },
});

/** As read from a log: JSON, each time anew. */
const snapshot = (account: string, epoch: number, startedAt: number): Fact => {
  const line = {
    state: 'connected',
    connectionVersion: '1',
    connectionIdHash: `${account}-1`,
    releaseVersion: '1.0.0',
  };
  const entries = JSON.parse(
    JSON.stringify(Object.fromEntries(CONNECTORS.map((connector) => [connector, line]))),
  ) as Extract<Fact, { type: 'snapshot.received' }>['data']['entries'];
  const data = { account, epoch, startedAt, serverEpoch: uint64(1), revision: uint64(1), complete: true, entries };
  return { type: 'snapshot.received', data };
};

function filled(): State {
  const state = initialState();
  const learn = (fact: Fact): void => {
    const position = state.head.position + 1;
    evolve(state, { ...fact, position, id: `e${String(position)}`, at: 1, cause: null, schema: SCHEMA, rules: RULES } as LoggedEvent); // prettier-ignore
  };
  learn({ type: 'engine.started', data: { boot: 'boot', package: '0.1.0', rules: RULES } });
  CONNECTORS.map(install).forEach(learn);
  for (let index = 0; index < ACCOUNTS; index++) {
    const account = `account-${String(index)}`;
    const epoch = state.head.epochs + 1;
    learn({ type: 'account.activated', data: { account, epoch } });
    learn(snapshot(account, epoch, state.head.position));
  }
  return state;
}

export function memoryBench(): object {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('run with --expose-gc');
  gc();
  const before = process.memoryUsage().heapUsed;
  const state = filled();
  gc();
  const mib = (process.memoryUsage().heapUsed - before) / 2 ** 20;
  let routes = 0;
  for (const { size } of state.routes.values()) routes += size;
  return { routes, retainedMiB: round(mib, 1), bytesPerRoute: round((mib * 2 ** 20) / routes, 0) };
}
