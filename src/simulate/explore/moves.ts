/** Everything that may happen next in a small world, in an order that never changes: a trace is a list of places in it. */
import { uint64, type Fact, type Payload } from '../../events/index.ts';
import { dueForRoute, nextWake } from '../../reconcile/index.ts';
import { before, change, cut, garbled, restore, torn, type Past, type Reply } from './past.ts';
import { mayStill, oneLess, type Around, type Drop, type Fetch, type Limit, type Work } from './small.ts';
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

/** The world after one of the things that may happen only so often, or `null` when it has. */
const spend = (around: Around, limit: Limit): Around | null =>
  mayStill(around.left, limit) ? { ...around, left: oneLess(around.left, limit) } : null;

function fetchMoves(stage: Stage, fetch: Fetch, add: Add): void {
  const { active } = stage.state.head;
  const around = { ...stage.around, fetches: without(stage.around.fetches, fetch) };
  const truth = around.servers[fetch.account]!;
  // The reply of a login that has ended: whatever it says, it must change nothing.
  if (active?.account !== fetch.account || active.epoch !== fetch.epoch)
    return add(moved(around, [received(fetch, truth.reply)], true));
  add(moved(around, [received(fetch, truth.reply)], true));
  let one = truth;
  for (; one !== fetch.since && one.parent !== null; one = one.parent)
    add(moved(around, [received(fetch, one.parent.reply)]));
  if (around.left === 0) return;
  const { account, epoch } = fetch;
  const failed: Fact = { type: 'snapshot.failed', data: { account, epoch, reason: 'HTTP 503', retryAfterMs: null } };
  rarely(around, 'failedFetches', [failed], add);
  if (one.parent !== null) rarely(around, 'lagging', [received(fetch, one.parent.reply)], add);
  rarely(around, 'cut', [received(fetch, cut(truth))], add);
  for (const connector of Object.keys(truth.lines)) {
    const other = torn(truth, connector);
    if (other !== null) rarely(around, 'torn', [received(fetch, other)], add);
    rarely(around, 'garbled', [received(fetch, garbled(truth, connector))], add);
  }
}

function rarely(around: Around, limit: Limit, facts: readonly Fact[], add: Add): void {
  const after = spend(around, limit);
  if (after !== null) add(moved(after, facts));
}

const received = ({ account, epoch, startedAt }: Fetch, reply: Reply): Fact => ({
  type: 'snapshot.received',
  data: { account, epoch, startedAt, ...reply },
});

function workMoves(stage: Stage, work: Work, add: Add): void {
  const around = { ...stage.around, works: without(stage.around.works, work) };
  if (work.kind === 'closeRoute') return add(moved(around, [outcome(stage, 'route.closed', work)], true));
  const isDue = dueForRoute(stage.state, stage.record(work.slot)).some(
    ({ kind, generation, epoch }) => kind === 'openRoute' && generation === work.generation && epoch === work.epoch,
  );
  const served = stage.isServed(work.slot);
  if ((work.could & 1) > 0) add(moved(around, [outcome(stage, 'route.opened', work)], isDue && served));
  if ((work.could & 2) > 0) add(moved(around, [openFailed(stage, work, 'rejected')], isDue && !served));
  if (!isDue) return add(moved(around, [openFailed(stage, work, 'aborted')], true));
  if (mayStill(around.left, 'failedOpens'))
    rarely(around, 'failedOpens', [openFailed(stage, work, 'unavailable')], add);
  if (mayStill(around.left, 'falseRejections') && work.could === 1 && stage.slots[work.slot]!.account !== null)
    rarely(around, 'falseRejections', [openFailed(stage, work, 'rejected')], add);
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
  const around = { ...stage.around, drops: without(stage.around.drops, drop) };
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
  const asleep = spend(around, 'sleeps');
  if (asleep !== null) add(moved(asleep, [tick('poll')], false, SLEEP_MS));
  // A fetch is over in ten seconds, whatever becomes of it: a minute does not pass over one.
  if (busy) return;
  const next = nextWake(state);
  if (next !== null && next <= now + MINUTE_MS) add(moved(around, [tick('wake')], true, MINUTE_MS));
  else if (active !== null) add(moved(around, [tick('poll')], true, POLL_MS));
}

const tick = (reason: 'poll' | 'wake'): Fact => ({ type: 'clock.ticked', data: { reason } });

function peopleMoves(stage: Stage, add: Add): void {
  const { around, state, world } = stage;
  const epoch = state.head.epochs + 1;
  const { active } = state.head;
  if (active === null && around.login !== null) return add(moved(around, [activated(around.login, epoch)], true));
  if (active !== null)
    stage.slots.forEach(({ account, connector }, slot) => {
      if (account !== active.account) return;
      const dropping: Fact = { type: 'connection.dropping', data: { account, epoch: active.epoch, connector } };
      rarely({ ...around, drops: [...around.drops, { slot, epoch: active.epoch }] }, 'drops', [dropping], add);
    });
  for (const account of stage.accounts)
    rarely(around, 'resets', [{ type: 'server.reset', data: { account, acceptedBy: 'an operator' } }], add);
  const release = 3 - around.release;
  const first = world.bound[0];
  if (first !== undefined) rarely({ ...around, release }, 'upgrades', [stage.installed(first, release)], add);
  if (isCrowded(around)) return;
  for (const account of stage.accounts)
    rarely({ ...around, login: account }, 'switches', [activated(account, epoch)], add);
  if (active !== null)
    rarely({ ...around, login: null }, 'switches', [{ type: 'account.cleared', data: { epoch } }], add);
}

/** So much is under way that people wait: the core's own effects are the only ones that go on. */
function isCrowded({ fetches, works }: Around): boolean {
  if (fetches.length >= MAX_FETCHES) return true;
  return works.some((work) => works.filter(({ slot }) => slot === work.slot).length > MAX_WORKS);
}

/** Calls that are refused, and processes that die. */
function shownMoves(stage: Stage, add: Add): void {
  const { around, table } = stage;
  table.forEach((shown, slot) => {
    if (shown === null) return;
    const { account, connector, generation, epoch, stamp } = shown;
    const route = { account, connector, generation, epoch };
    rarely(around, 'exits', [{ type: 'route.exited', data: { ...route, reason: 'exit code 1' } }], add);
    if (account === null) return;
    const rejected: Fact = {
      type: 'call.rejected',
      data: { account, connector, generation, epoch, stamp, code: -33002 },
    };
    if (stage.isServed(slot)) rarely(around, 'falseRejections', [rejected], add);
    else add(moved(around, [rejected]));
  });
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
  rarely(around, 'bogusHints', [hint(active.account, 99)], add);
  if (!world.hints) return;
  add(moved(around, [hint(active.account, null)]));
  const truth = around.servers[active.account]!;
  const floor = Number(state.accounts.get(active.account)?.machine.context.floor ?? 0);
  if (truth.revision > floor) add(moved(around, [hint(active.account, truth.revision)]));
  if (!mayStill(around.left, 'lateHints')) return;
  const old = new Set([...before(truth)].map(({ revision }) => revision));
  for (const revision of old)
    if (revision > floor && revision !== truth.revision)
      rarely(around, 'lateHints', [hint(active.account, revision)], add);
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
  const around = { ...stage.around, fetches: [], works: [], drops: [] };
  rarely(around, 'crashes', stage.startFacts(), add);
}
