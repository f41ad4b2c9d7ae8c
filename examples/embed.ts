/** The core in a daemon of your own: `node --import tsx examples/embed.ts [log.sqlite]`. In your project import from 'dacapo'. */
import { memoryLog, openReconciler, openSqliteLog, systemEdge, uint64, type Fact, type Perform } from '../src/index.ts';

const [path] = process.argv.slice(2);
const log = path === undefined ? memoryLog() : await openSqliteLog(path);
const [last] = log.read(Math.max(log.head, 1));
const edge = systemEdge(last?.at);

/** Your hands: fetch the account's authorizations, open and close routes. Each work ends in exactly one fact. */
const perform: Perform = (effect, { startedAt }): Promise<Fact> => {
  if (effect.kind === 'fetchSnapshot') {
    const { account, epoch } = effect;
    const docs = {
      state: 'connected' as const,
      connectionVersion: uint64(1),
      connectionIdHash: null,
      releaseVersion: null,
    };
    const said = { revision: uint64(1), serverEpoch: null, complete: true, entries: { docs } };
    return Promise.resolve({ type: 'snapshot.received', data: { account, epoch, startedAt, ...said } });
  }
  const { kind, ...route } = effect;
  if (kind === 'closeRoute') return Promise.resolve({ type: 'route.closed', data: { ...route, reason: 'withdrawn' } });
  return Promise.resolve({ type: 'route.opened', data: { ...route, tools: { count: 3, digest: 't1' } } });
};

const reconciler = openReconciler({ log, edge, perform, package: '1.0.0', boot: edge.newId() });
const device = { kind: 'remote', authorization: 'api_key', enabled: true, incompatible: null } as const;
reconciler.accept([
  { type: 'connector.installed', data: { connector: 'docs', release: { version: '1.0.0', digest: 'd1' }, ...device } },
  { type: 'account.activated', data: { account: 'ann', epoch: reconciler.nextEpoch() } },
]);

await new Promise<void>((resolve) => {
  reconciler.tables.subscribe((table) => table.size === 1 && resolve());
});
for (const [key, route] of reconciler.table) console.log(`${key}: ${String(route.tools.count)} tools`);
console.log(reconciler.explain('docs').text);
await reconciler.close();
log.close();
