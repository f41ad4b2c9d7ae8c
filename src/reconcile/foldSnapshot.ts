/** What a reply of the server does: to the account by its verdict, to each route by its line. The heart of DESIGN 5.2. */
import { compareUint64, type Entry, type Payload, type Stamp } from '../events/index.ts';
import { needsAuthorization, type AccountContext, type ReadEvidence } from '../machines/index.ts';
import { judge } from './judge.ts';
import type { RouteRecord } from './state.ts';
import type { Turn } from './turn.ts';

type Snapshot = Payload<'snapshot.received'>;
const NO_ROUTES: ReadonlyMap<string, RouteRecord> = new Map();

/** Folds a reply of the active login. */
export function foldSnapshot(turn: Turn, snapshot: Snapshot, atMs: number): void {
  const before = turn.account(snapshot.account).machine.context;
  const verdict = judge(before, snapshot, atMs, turn.state.routes.get(snapshot.account) ?? NO_ROUTES);
  switch (verdict.kind) {
    case 'refused':
      turn.anomaly(verdict.because, snapshot.account, null);
      return refuse(turn, snapshot, atMs, verdict.because === 'server-epoch-regressed' ? 60_000 : 0);
    case 'dissented':
      return dissent(turn, snapshot, atMs, verdict);
    case 'adopted':
    case 'accepted':
      return apply(turn, snapshot, atMs, verdict.kind, before);
  }
}

function refuse(turn: Turn, { account }: Snapshot, atMs: number, holdOffMs: number): void {
  turn.giveAccount(account, { type: 'refused', atMs, holdOffMs });
}

function dissent(
  turn: Turn,
  snapshot: Snapshot,
  atMs: number,
  { torn, content }: { torn: boolean; content: string },
): void {
  const { account, revision } = snapshot;
  turn.anomaly(torn ? 'revision-torn' : 'revision-regressed', account, null);
  const { line } = turn.giveAccount(account, { type: 'dissented', atMs, revision, content, torn }).machine.context;
  if (!torn) return;
  const stamp: Stamp = { line, revision };
  forEachLine(turn, snapshot, (connector, route, entry) => {
    if (entry !== 'unreadable') turn.give(route ?? turn.route(account, connector), { type: 'torn', stamp, entry });
  });
}

function apply(
  turn: Turn,
  snapshot: Snapshot,
  atMs: number,
  type: 'accepted' | 'adopted',
  before: AccountContext,
): void {
  const { account, startedAt, revision, serverEpoch, complete } = snapshot;
  const judged = { type, position: turn.position, atMs, startedAt, revision, serverEpoch, complete };
  const { context } = turn.giveAccount(account, judged).machine;
  if (type === 'adopted') adoptLine(turn, account);
  else if (before.wanted !== null && context.wanted === null && fallsShort(before, snapshot)) giveUpHint(turn, account);
  const read: ReadBy = {
    stamp: { line: context.line, revision },
    startedAt,
    epoch: snapshot.epoch,
    epochAt: context.epochAt,
    atMs,
  };
  forEachLine(turn, snapshot, (connector, route, entry) => {
    tell(turn, route ?? turn.route(account, connector), entry, read);
  });
}

/** What the reads of one reply have in common. */
type ReadBy = Omit<ReadEvidence, 'type' | 'entry'>;

function tell(turn: Turn, route: RouteRecord, entry: Entry | 'unreadable' | null, read: ReadBy): void {
  if (entry === 'unreadable') {
    turn.anomaly('entry-unreadable', route.account, route.connector);
    turn.give(route, { type: 'unreadable', epoch: read.epoch });
    return;
  }
  const { stamp, startedAt, epoch, epochAt, atMs } = read;
  const { context } = turn.give(route, { type: 'read', stamp, entry, startedAt, epoch, epochAt, atMs }).machine;
  const { regress } = context;
  if (regress !== null && regress !== route.machine.context.regress)
    turn.anomaly('version-regressed', route.account, route.connector);
}

/** A restored server: what was believed of the old line is forgotten before the read applies. */
function adoptLine(turn: Turn, account: string): void {
  turn.anomaly('server-line-adopted', account, null);
  for (const route of [...(turn.state.routes.get(account) ?? NO_ROUTES).values()])
    turn.give(route, { type: 'adopted' });
}

const fallsShort = (before: AccountContext, { revision }: Snapshot): boolean =>
  before.wanted !== null && compareUint64(before.wanted.revision, revision) > 0;

/** A hint that three reads fell short of was no truth: whatever waits for its revision waits no longer. */
function giveUpHint(turn: Turn, account: string): void {
  turn.anomaly('hint-unreached', account, null);
  for (const route of [...(turn.state.routes.get(account) ?? NO_ROUTES).values()])
    turn.give(route, { type: 'unreached' });
}

/** Every line of a reply, and the silence of a complete one: connectors that are known and not named are disconnected. */
function forEachLine(turn: Turn, { account, entries, complete }: Snapshot, visit: Visit): void {
  const routes = turn.state.routes.get(account) ?? NO_ROUTES;
  let known = 0;
  for (const connector in entries) {
    const entry = entries[connector];
    const route = routes.get(connector);
    if (route !== undefined) known += 1;
    if (entry === undefined || (route === undefined && !isWorthKeeping(entry))) continue;
    visit(connector, route, entry === 'unreadable' ? entry : entryOnly(entry));
  }
  // Where every known one was named, none is asked whether it was.
  if (complete && known < routes.size) forEachSilent(entries, routes, visit);
}

function forEachSilent(entries: Snapshot['entries'], routes: ReadonlyMap<string, RouteRecord>, visit: Visit): void {
  for (const [connector, route] of routes) {
    const { device, read } = route.machine.context;
    const speaks = read !== null || (device !== null && needsAuthorization(device));
    if (speaks && !Object.hasOwn(entries, connector)) visit(connector, route, null);
  }
}

/** Told of a connector by name; its route is there already, or it is made once there is something to give it. */
type Visit = (connector: string, route: RouteRecord | undefined, entry: Entry | 'unreadable' | null) => void;

/** A closed connection to something that was never here is nothing to remember; that its line was garbled, is. */
const isWorthKeeping = (entry: Snapshot['entries'][string]): boolean =>
  entry === 'unreadable' || entry.state !== 'disconnected';

/** The release version of a line is evidence for people, not for belief. */
const entryOnly = ({ state, connectionVersion, connectionIdHash }: Entry): Entry => ({
  state,
  connectionVersion,
  connectionIdHash,
});
