/**
 * A host for the world: performs effects by reaching outside, and answers each with one fact. This is the place where those who
 * embed the core put their own: `simulate({ host: (outside) => perform })`.
 */
import type { Fact } from '../events/index.ts';
import type { FetchSnapshot, Perform, PerformContext, RouteEffect } from '../reconcile/index.ts';
import type { Outside } from './outside.ts';

/** Makes the performer of one process. It may keep what it likes: a kill ends it with its process. */
export type MakeHost = (outside: Outside) => Perform;

/** The plainest host that keeps the promise of the port. */
export const plainHost: MakeHost = (outside) => (effect, context) => {
  switch (effect.kind) {
    case 'fetchSnapshot':
      return fetchSnapshot(outside, effect, context);
    case 'openRoute':
      return openRoute(outside, effect, context);
    case 'closeRoute':
      return closeRoute(outside, effect, context);
  }
};

async function fetchSnapshot(
  outside: Outside,
  { account, epoch }: FetchSnapshot,
  { signal, startedAt }: PerformContext,
): Promise<Fact> {
  const reply = await outside.snapshot(account, signal);
  return typeof reply === 'string'
    ? { type: 'snapshot.failed', data: { account, epoch, reason: reply, retryAfterMs: null } }
    : { type: 'snapshot.received', data: { account, epoch, startedAt, ...reply } };
}

async function openRoute(
  outside: Outside,
  { account, connector, generation, epoch }: RouteEffect,
  { signal, stamp }: PerformContext,
): Promise<Fact> {
  const dialled = await outside.dial(account, connector, signal);
  const route = { account, connector, generation, epoch };
  if (dialled.kind === 'open') return { type: 'route.opened', data: { ...route, tools: dialled.tools } };
  const rejected = dialled.kind === 'rejected';
  const reason = rejected ? 'rejected' : dialled.reason;
  const code = rejected ? dialled.code : null;
  return {
    type: 'route.openFailed',
    data: { ...route, reason, detail: null, code, stamp: rejected ? stamp : null, retryAfterMs: null },
  };
}

async function closeRoute(
  outside: Outside,
  { account, connector, generation, epoch }: RouteEffect,
  { signal }: PerformContext,
): Promise<Fact> {
  await outside.hangUp(account, connector, signal);
  return { type: 'route.closed', data: { account, connector, generation, epoch, reason: 'no longer wanted' } };
}
