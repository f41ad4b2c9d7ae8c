/**
 * The compiled tables against real XState: every edge of the graph that a walk from the start can reach over a small alphabet, and
 * 10^6 random steps. The library is driven step by step on the edges, and as a running actor on the random walk (its public pure
 * API builds an actor per call and would take twenty seconds for a million).
 */
import { isDeepStrictEqual } from 'node:util';
import { createActor, type AnyStateMachine } from 'xstate';
import { expect, test } from 'vitest';
import { uint64, type Entry } from '../../src/events/index.ts';
import {
  accountMachine,
  accountTable,
  oracleStep,
  routeMachine,
  routeTable,
  type AccountEvidence,
  type Device,
  type RouteEvidence,
  type Table,
} from '../../src/machines/index.ts';
import { canonical } from '../../src/reconcile/index.ts';

const remote: Device = {
  release: { version: '1', digest: 'd' },
  kind: 'remote',
  authorization: 'api_key',
  enabled: true,
  incompatible: null,
};
const entry = (state: Entry['state'], version: number, connectionIdHash: string | null): Entry => ({
  state,
  connectionVersion: uint64(version),
  connectionIdHash,
});
const stamp = (revision: number, line = 0): { line: number; revision: ReturnType<typeof uint64> } => ({
  line,
  revision: uint64(revision),
});
const read = (revision: number, said: Entry | null, atMs: number): RouteEvidence => ({
  type: 'read',
  stamp: stamp(revision),
  entry: said,
  startedAt: 5,
  epoch: 2,
  epochAt: 3,
  atMs,
});

const routeAlphabet: readonly RouteEvidence[] = [
  { type: 'device', device: remote },
  { type: 'device', device: { ...remote, release: { version: '2', digest: 'e' } } },
  { type: 'device', device: { ...remote, enabled: false } },
  { type: 'device', device: { ...remote, incompatible: 'incompatible' } },
  { type: 'device', device: { ...remote, kind: 'stdio' } },
  { type: 'device', device: { ...remote, authorization: 'none' } },
  { type: 'device', device: null },
  read(1, entry('connected', 1, 'h'), 0),
  read(2, entry('connected', 2, 'h'), 60_000),
  read(4, entry('connected', 1, 'h'), 120_000),
  read(3, entry('connected', 1, 'i'), 0),
  read(3, entry('disconnected', 2, null), 0),
  read(3, entry('reauth_required', 2, 'h'), 0),
  read(4, null, 400_000),
  { type: 'unreadable', epoch: 2 },
  { type: 'torn', stamp: stamp(2), entry: entry('disconnected', 3, 'h') },
  { type: 'torn', stamp: stamp(3), entry: null },
  { type: 'adopted' },
  { type: 'rejected', position: 4, atMs: 1_000 },
  { type: 'rejected', position: 9, atMs: 2_000 },
  { type: 'dropping', position: 4, epoch: 2, line: 0, floor: uint64(2) },
  { type: 'dropping', position: 4, epoch: 1, line: 0, floor: null },
  { type: 'dropped', position: 5, revision: uint64(3) },
  { type: 'dropped', position: 6, revision: null },
  { type: 'dropFailed', position: 5 },
  { type: 'unreached' },
  { type: 'opened', atMs: 0 },
  { type: 'failed', atMs: 1_000, contract: false, retryAfterMs: 0, jitter: 7 },
  { type: 'failed', atMs: 700_000, contract: true, retryAfterMs: 5_000, jitter: 700 },
  { type: 'ticked', nowMs: 3_000 },
  { type: 'ticked', nowMs: 900_000 },
];

const judged = (
  revision: number,
  startedAt: number,
  atMs: number,
  complete = true,
): {
  position: number;
  atMs: number;
  startedAt: number;
  revision: ReturnType<typeof uint64>;
  serverEpoch: null;
  complete: boolean;
} => ({ position: startedAt + 1, atMs, startedAt, revision: uint64(revision), serverEpoch: null, complete });

const accountAlphabet: readonly AccountEvidence[] = [
  { type: 'activated', position: 1, atMs: 0, epoch: 1 },
  { type: 'activated', position: 6, atMs: 9_000, epoch: 2 },
  { type: 'left' },
  { type: 'accepted', ...judged(1, 1, 0) },
  { type: 'accepted', ...judged(2, 8, 60_000) },
  { type: 'accepted', ...judged(1, 8, 120_000, false) },
  { type: 'adopted', ...judged(1, 8, 5_000), serverEpoch: uint64(3) },
  { type: 'dissented', atMs: 0, revision: uint64(1), content: 'a', torn: false },
  { type: 'dissented', atMs: 60_000, revision: uint64(1), content: 'a', torn: true },
  { type: 'dissented', atMs: 60_000, revision: uint64(0), content: 'b', torn: false },
  { type: 'refused', atMs: 0, holdOffMs: 60_000 },
  { type: 'failed', atMs: 0, retryAfterMs: 0, jitter: 100 },
  { type: 'failed', atMs: 60_000, retryAfterMs: 3_600_000, jitter: 100 },
  { type: 'hinted', position: 7, atMs: 0, revision: uint64(2) },
  { type: 'hinted', position: 8, atMs: 0, revision: uint64(9) },
  { type: 'wished', position: 7, atMs: 0 },
  { type: 'reset', position: 7, atMs: 0 },
  { type: 'ticked', nowMs: 700_000 },
  { type: 'ticked', nowMs: 4_000_000 },
];

/** Breadth-first from the start, at most `limit` standings: every edge is taken by both. */
function edges<V extends string, C extends object, E extends { readonly type: string }>(
  machine: AnyStateMachine,
  table: Table<V, C, E>,
  alphabet: readonly E[],
  limit: number,
): { edges: number; states: Set<string> } {
  const seen = new Set([canonical(table.initial)]);
  const queue = [table.initial];
  let taken = 0;
  for (let from = queue.shift(); from !== undefined && taken < limit; from = queue.shift()) {
    for (const evidence of alphabet) {
      const ours = table.step(from, evidence);
      const theirs = oracleStep(machine, from, evidence);
      taken += 1;
      if (!isDeepStrictEqual(ours, theirs))
        throw new Error(`diverged on ${canonical([from, evidence])}:\n${canonical(ours)}\n${canonical(theirs)}`);
      const key = canonical(ours);
      if (!seen.has(key) && seen.size < limit / alphabet.length) (queue.push(ours), seen.add(key));
    }
  }
  return { edges: taken, states: new Set([...seen].map((key) => (JSON.parse(key) as { value: string }).value)) };
}

/** 0 … 2^32−1, the same on every machine. */
function* draws(seed: number): Generator<number, never> {
  for (let x = seed; ;) {
    x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    yield (x ^ (x >>> 12)) >>> 0;
  }
}

/** A walk that begins anew every 50 steps, so that it does not drown in one corner. Returns the states it rested in. */
function walk<V extends string, C extends object, E extends { readonly type: string }>(
  machine: AnyStateMachine,
  table: Table<V, C, E>,
  alphabet: readonly E[],
  steps: number,
): Set<string> {
  const random = draws(2026);
  const rested = new Set<string>();
  let ours = table.initial;
  let actor = createActor(machine).start();
  for (let i = 0; i < steps; i++) {
    if (i % 50 === 0) ((ours = table.initial), (actor = createActor(machine).start()));
    const evidence = alphabet[random.next().value % alphabet.length] as E;
    ours = table.step(ours, evidence);
    actor.send(evidence);
    const theirs = actor.getSnapshot() as { value: unknown; context: unknown };
    rested.add(ours.value);
    if (ours.value !== theirs.value || (i % 10 === 0 && !isDeepStrictEqual(ours.context, theirs.context)))
      throw new Error(`diverged at step ${String(i)}`);
  }
  return rested;
}

const LONG = process.env['DACAPO_LONG'] === '1';
const RANDOM_STEPS = LONG ? 10_000_000 : 1_000_000;
const EDGES = LONG ? 400_000 : 20_000;

test('table and library agree on every edge of the route machine, in every state it can rest in', () => {
  const found = edges(routeMachine, routeTable, routeAlphabet, EDGES);
  expect(found.edges).toBeGreaterThanOrEqual(EDGES);
  expect(found.states.size).toBe(14);
}, 300_000);

test('table and library agree on every edge of the account machine, in every state it can rest in', () => {
  const found = edges(accountMachine, accountTable, accountAlphabet, EDGES);
  expect(found.edges).toBeGreaterThan(1_000);
  expect(found.states.size).toBe(6);
}, 300_000);

test('table and library agree on a million random steps', () => {
  const routes = walk(routeMachine, routeTable, routeAlphabet, RANDOM_STEPS / 2);
  const accounts = walk(accountMachine, accountTable, accountAlphabet, RANDOM_STEPS / 2);
  expect([routes.size, accounts.size]).toEqual([14, 6]);
}, 300_000);
