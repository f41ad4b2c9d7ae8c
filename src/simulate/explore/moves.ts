/** Everything that may happen next in a small world, in an order that never changes: a trace is a list of places in it. */
import { uint64, type Fact, type Payload } from '../../events/index.ts';
import { dueForRoute, nextWake } from '../../reconcile/index.ts';
import { before, change, cut, garbled, restore, torn, type Past, type Reply } from './past.ts';
import {
  mayStill,
  spent,
  withDrops,
  withFetches,
  withLogin,
  withWorks,
  type Around,
  type Drop,
  type Fetch,
  type Limit,
  type Work,
} from './small.ts';
import { activated, type Move, type Stage } from './stage.ts';

/** The coarse clock of the small world: whatever waits for less than a minute has come when one has passed. */
const MINUTE_MS = 60_000;
const POLL_MS = 300_000;
const SLEEP_MS = 8 * 3_600_000;
/** More of these at once are not begun by people; what the core itself begins is never held back. */
const MAX_FETCHES = 2;
const MAX_WORKS = 2;

export function movesOf(stage: Stage): readonly Move[] {
  const moves: Move[] = [];
  const add = (move: Move): void => void moves.push(move);
  for (const fetch of stage.around.fetches) fetchMoves(stage, fetch, add);
  for (const work of stage.around.works) workMoves(stage, work, add);
  for (const drop of stage.around.drops) dropMoves(stage, drop, add);
  clockMoves(stage, add);
  peopleMoves(stage, add);
  shownMoves(stage, add);
  serverMoves(stage, add);
  hintMoves(stage, add);
  crashMoves(stage, add);
  return moves;
}

type Add = (move: Move) => void;

const moved = (around: Around, facts: readonly Fact[], calm = false, advanceMs = 0): Move => ({
  facts,
  advanceMs,
  around,
  calm,
});

function fetchMoves(stage: Stage, fetch: Fetch, add: Add): void {
  const { active } = stage.state.head;
  const around = withFetches(stage.around, without(stage.around.fetches, fetch));
  const truth = around.servers[fetch.account]!;
  // The reply of a login that has ended: whatever it says, it must change nothing.
  if (active?.account !== fetch.account || active.epoch !== fetch.epoch)
    return add(moved(around, [received(fetch, truth.reply)], true));
  add(moved(around, [received(fetch, truth.reply)], true));
  let one = truth;
  for (; one !== fetch.since && one.parent !== null; one = one.parent)
    add(moved(around, [received(fetch, one.parent.reply)]));
  if (around.left === 0) return;
  const { parent } = one;
  rarely(around, 'failedFetches', add, () => failed(fetch));
  if (parent !== null) rarely(around, 'lagging', add, () => received(fetch, parent.reply));
  rarely(around, 'cut', add, () => received(fetch, cut(truth)));
  for (const connector in truth.lines) {
    const other = mayStill(around.left, 'torn') ? torn(truth, connector) : null;
    if (other !== null) rarely(around, 'torn', add, () => received(fetch, other));
    rarely(around, 'garbled', add, () => received(fetch, garbled(truth, connector)));
  }
}

/** What may happen only so often. The fact is made only where it may: most states have nothing left of most of it. */
function rarely(around: Around, limit: Limit, add: Add, fact: () => Fact): void {
  if (mayStill(around.left, limit)) add(moved(spent(around, limit), [fact()]));
}

const failed = ({ account, epoch }: Fetch): Fact => ({
  type: 'snapshot.failed',
  data: { account, epoch, reason: 'HTTP 503', retryAfterMs: null },
});

const received = ({ account, epoch, startedAt }: Fetch, reply: Reply): Fact => ({
  type: 'snapshot.received',
  data: {
    account,
    epoch,
    startedAt,
    serverEpoch: reply.serverEpoch,
    revision: reply.revision,
    complete: reply.complete,
    entries: reply.entries,
  },
});

function workMoves(stage: Stage, work: Work, add: Add): void {
  const around = withWorks(stage.around, without(stage.around.works, work));
  if (work.kind === 'closeRoute') return add(moved(around, [outcome(stage, 'route.closed', work)], true));
  const isDue = dueForRoute(stage.state, stage.routes[work.slot]!).some(
    ({ kind, generation, epoch }) => kind === 'openRoute' && generation === work.generation && epoch === work.epoch,
  );
  const served = stage.isServed(work.slot);
  if ((work.could & 1) > 0) add(moved(around, [outcome(stage, 'route.opened', work)], isDue && served));
  if ((work.could & 2) > 0) add(moved(around, [openFailed(stage, work, 'rejected')], isDue && !served));
  if (!isDue) return add(moved(around, [openFailed(stage, work, 'aborted')], true));
  rarely(around, 'failedOpens', add, () => openFailed(stage, work, 'unavailable'));
  if (work.could === 1 && stage.slots[work.slot]!.account !== null)
    rarely(around, 'falseRejections', add, () => openFailed(stage, work, 'rejected'));
}

function without<T>(list: readonly T[], one: T): readonly T[] {
  if (list.length === 1) return NONE;
  const rest: T[] = [];
  for (const other of list) if (other !== one) rest.push(other);
  return rest;
}
const NONE: readonly never[] = [];
const TOOLS = { count: 1, digest: 't' };

function outcome(stage: Stage, type: 'route.opened' | 'route.closed', { slot, generation, epoch }: Work): Fact {
  const { account, connector } = stage.slots[slot]!;
  return type === 'route.opened'
    ? { type, data: { account, connector, generation, epoch, tools: TOOLS } }
    : { type, data: { account, connector, generation, epoch, reason: 'no longer wanted' } };
}

function openFailed(
  stage: Stage,
  { slot, generation, epoch }: Work,
  reason: Payload<'route.openFailed'>['reason'],
): Fact {
  const { account, connector } = stage.slots[slot]!;
  const code = reason === 'rejected' ? 428 : null;
  return {
    type: 'route.openFailed',
    data: { account, connector, generation, epoch, reason, code, detail: null, stamp: null, retryAfterMs: null },
  };
}

/** The server disconnects and says so, with or without its revision; or it can't. */
function dropMoves(stage: Stage, drop: Drop, add: Add): void {
  const { account, connector } = stage.slots[drop.slot]!;
  if (account === null) return;
  const around = withDrops(stage.around, without(stage.around.drops, drop));
  const of = { account, epoch: drop.epoch, connector };
  add(moved(around, [{ type: 'connection.dropFailed', data: { ...of, reason: 'HTTP 503' } }], true));
  const past = around.servers[account]!;
  const next = change(past, connector, 'revoke') ?? past;
  const after = withServer(stage, around, account, next);
  add(moved(after, [{ type: 'connection.dropped', data: { ...of, revision: uint64(next.revision) } }], true));
  add(moved(after, [{ type: 'connection.dropped', data: { ...of, revision: null } }]));
}

function clockMoves(stage: Stage, add: Add): void {
  const { state, around } = stage;
  const { active, now } = state.head;
  const busy = around.fetches.some(({ account, epoch }) => account === active?.account && epoch === active.epoch);
  if (mayStill(around.left, 'sleeps')) add(moved(spent(around, 'sleeps'), POLL, false, SLEEP_MS));
  // A fetch is over in ten seconds, whatever becomes of it: a minute does not pass over one.
  if (busy) return;
  const next = nextWake(state);
  if (next !== null && next <= now + MINUTE_MS) add(moved(around, WAKE, true, MINUTE_MS));
  else if (active !== null) add(moved(around, POLL, true, POLL_MS));
}

const POLL: readonly Fact[] = [{ type: 'clock.ticked', data: { reason: 'poll' } }];
const WAKE: readonly Fact[] = [{ type: 'clock.ticked', data: { reason: 'wake' } }];

function peopleMoves(stage: Stage, add: Add): void {
  const { around, state, world } = stage;
  const epoch = state.head.epochs + 1;
  const { active } = state.head;
  if (active === null && around.login !== null) return add(moved(around, [activated(around.login, epoch)], true));
  if (around.left === 0) return;
  if (active !== null && mayStill(around.left, 'drops')) dropsOf(stage, active, add);
  for (const account of stage.names)
    rarely(around, 'resets', add, () => ({ type: 'server.reset', data: { account, acceptedBy: 'an operator' } }));
  const first = world.bound[0];
  const release = 3 - around.release;
  if (first !== undefined && mayStill(around.left, 'upgrades'))
    add(moved({ ...spent(around, 'upgrades'), release }, [stage.installed(first, release)]));
  if (!mayStill(around.left, 'switches') || isCrowded(around)) return;
  for (const account of stage.names)
    rarely(withLogin(around, account), 'switches', add, () => activated(account, epoch));
  if (active !== null)
    rarely(withLogin(around, null), 'switches', add, () => ({ type: 'account.cleared', data: { epoch } }));
}

function dropsOf(
  { around, slots }: Stage,
  { account, epoch }: NonNullable<Stage['state']['head']['active']>,
  add: Add,
): void {
  slots.forEach((route, slot) => {
    if (route.account !== account) return;
    const { connector } = route;
    const after = withDrops(around, [...around.drops, { slot, epoch }]);
    rarely(after, 'drops', add, () => ({ type: 'connection.dropping', data: { account, epoch, connector } }));
  });
}

/** So much is under way that people wait: the core's own effects are the only ones that go on. */
function isCrowded({ fetches, works }: Around): boolean {
  if (fetches.length >= MAX_FETCHES) return true;
  for (const { slot } of works) {
    let here = 0;
    for (const work of works) if (work.slot === slot) here++;
    if (here > MAX_WORKS) return true;
  }
  return false;
}

/** Calls that are refused, and processes that die. */
function shownMoves(stage: Stage, add: Add): void {
  const { around, table } = stage;
  for (let slot = 0; slot < table.length; slot++) {
    const shown = table[slot];
    if (shown == null) continue;
    const { account, connector, generation, epoch, stamp } = shown;
    const route = { account, connector, generation, epoch };
    rarely(around, 'exits', add, () => ({ type: 'route.exited', data: { ...route, reason: 'exit code 1' } }));
    if (account === null) continue;
    const rejected = (): Fact => ({
      type: 'call.rejected',
      data: { account, connector, generation, epoch, stamp, code: -33002 },
    });
    if (stage.isServed(slot)) rarely(around, 'falseRejections', add, rejected);
    else add(moved(around, [rejected()]));
  }
}

function serverMoves(stage: Stage, add: Add): void {
  const { around, world } = stage;
  for (const [account, connector, what] of world.changes) {
    const past = around.servers[account]!;
    const next = past.depth < world.depth ? change(past, connector, what) : null;
    if (next !== null) add(moved(withServer(stage, around, account, next), []));
  }
  for (const account of world.restores) {
    const past = around.servers[account]!;
    if (past.depth >= world.depth) continue;
    for (const older of before(past))
      if (older.revision < past.revision) add(moved(withServer(stage, around, account, restore(past, older)), []));
  }
}

/** A change on the server, as far as openings under way are concerned: each may have met the gateway before or after it. */
function withServer(stage: Stage, around: Around, account: string, past: Past): Around {
  const works = around.works.map((work) => {
    const slot = stage.slots[work.slot]!;
    if (slot.account !== account || work.kind !== 'openRoute') return work;
    return { ...work, could: work.could | (past.lines[slot.connector]?.state === 'connected' ? 1 : 2) };
  });
  return { ...around, works, servers: { ...around.servers, [account]: past } };
}

/** Hints of the newest revision come whenever they like, and as often: so they are lost, repeated and late all at once. */
function hintMoves(stage: Stage, add: Add): void {
  const { around, state, world } = stage;
  const { active } = state.head;
  if (active === null) return;
  rarely(around, 'bogusHints', add, () => hint(active.account, 99));
  if (!world.hints) return;
  add(moved(around, [hint(active.account, null)]));
  const truth = around.servers[active.account]!;
  const floor = Number(state.accounts.get(active.account)?.machine.context.floor ?? 0);
  if (truth.revision > floor) add(moved(around, [hint(active.account, truth.revision)]));
  if (!mayStill(around.left, 'lateHints')) return;
  const old = new Set([...before(truth)].map(({ revision }) => revision));
  for (const revision of old)
    if (revision > floor && revision !== truth.revision)
      rarely(around, 'lateHints', add, () => hint(active.account, revision));
}

const hint = (account: string, revision: number | null): Fact => ({
  type: 'hint.received',
  data: {
    account,
    revision: revision === null ? null : uint64(revision),
    connector: null,
    incarnation: 'i',
    count: 1,
  },
});

/** The process dies and starts again: whatever was under way died with it, and the device is reported anew. */
function crashMoves(stage: Stage, add: Add): void {
  if (!mayStill(stage.around.left, 'crashes')) return;
  const { login, servers, left, release } = spent(stage.around, 'crashes');
  add(moved({ login, servers, fetches: NONE, works: NONE, drops: NONE, left, release }, stage.startFacts()));
}
