/** A step of the compiled table against `actor.send` and against the public `transition()` of the same machine. */
import { createActor, transition } from 'xstate';
import { uint64 } from '../src/events/index.ts';
import { routeMachine, routeTable, type RouteEvidence, type RouteStanding } from '../src/machines/index.ts';
import { measure, median, perItemUs, round, ROUNDS, type Cost } from './measure.ts';

/** Evidence that moves the machine at most steps: read, refuse, tick, fail, reopen. */
function evidenceRing(): readonly RouteEvidence[] {
  const entry = (
    version: number,
  ): { state: 'connected'; connectionVersion: ReturnType<typeof uint64>; connectionIdHash: string } => ({
    state: 'connected',
    connectionVersion: uint64(version),
    connectionIdHash: 'h',
  });
  const read = (revision: number, atMs: number): RouteEvidence => ({
    type: 'read',
    stamp: { line: 0, revision: uint64(revision) },
    entry: entry(revision),
    startedAt: revision,
    epoch: 1,
    epochAt: 1,
    atMs,
  });
  const ring: RouteEvidence[] = [
    {
      type: 'device',
      device: {
        release: { version: '1', digest: 'd' },
        kind: 'remote',
        authorization: 'api_key',
        enabled: true,
        incompatible: null,
      },
    },
  ];
  for (let i = 1; i <= 16; i++) {
    ring.push(
      read(i, i * 1000),
      { type: 'opened', atMs: i * 1000 },
      { type: 'failed', atMs: i * 1000, contract: false, retryAfterMs: 0, jitter: 5 },
      { type: 'ticked', nowMs: i * 1_000_000 },
      { type: 'rejected', position: i, atMs: i * 1000 },
    );
  }
  return ring;
}

export function machineBench(): object {
  const ring = evidenceRing();
  const run = (steps: number, step: (evidence: RouteEvidence) => void): Cost =>
    measure(() => {
      for (let i = 0; i < steps; i++) step(ring[i % ring.length] as RouteEvidence);
    });
  const table = (): Cost => {
    let standing: RouteStanding = routeTable.initial;
    return run(300_000, (evidence) => (standing = routeTable.step(standing, evidence)));
  };
  const actorSend = (): Cost => {
    const actor = createActor(routeMachine).start();
    return run(30_000, (evidence) => actor.send(evidence));
  };
  const pure = (): Cost => {
    let snapshot = routeMachine.resolveState({ value: routeTable.initial.value, context: routeTable.initial.context });
    return run(6_000, (evidence) => (snapshot = transition(routeMachine, snapshot, evidence)[0]));
  };
  const rounds = Array.from({ length: ROUNDS + 1 }, () => ({
    table: table(),
    actorSend: actorSend(),
    pure: pure(),
  })).slice(1);
  const tableUs = perItemUs(median(rounds.map((r) => r.table)), 300_000);
  const actorUs = perItemUs(median(rounds.map((r) => r.actorSend)), 30_000);
  const pureUs = perItemUs(median(rounds.map((r) => r.pure)), 6_000);
  return {
    tableUs,
    actorSendUs: actorUs,
    transitionUs: pureUs,
    tableOverActorSend: round(actorUs / tableUs, 1),
    tableOverTransition: round(pureUs / tableUs, 1),
  };
}
