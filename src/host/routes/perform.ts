/**
 * The three effects, performed. Each ends in exactly one fact, whatever happens on the way: an effect without an outcome would be
 * owed for ever (law L14). What may have been opened is closed again before a failure is told.
 */
import type { Fact, FactOf } from '../../events/index.ts';
import {
  clampDelay,
  errorRow,
  fail,
  openFailure,
  rejectionOf,
  type Failure,
  type Outcome,
} from '../../protocol/index.ts';
import type { Perform, PerformContext, RouteEffect } from '../../reconcile/index.ts';
import type { Installed } from '../sources/connectors.ts';
import type { ControlPlane } from '../sources/controlPlane.ts';
import { fetchSnapshot } from '../sources/snapshot.ts';
import { activateLocal, activateRemote, type ActivationMemory, type Tools } from './activation.ts';
import type { Handles } from './handles.ts';
import type { Owner } from './owner.ts';
import {
  localConnection,
  type RemoteClient,
  type RemoteClientRequest,
  type RemoteMCPClientFactory,
} from './remoteClientFactory.ts';

/** Starts a connector's process. Throws nothing: what went wrong is a failure. */
export type OpenProcess = (
  installed: Installed,
  options: { readonly signal: AbortSignal; readonly onToolsChanged: () => void },
) => Promise<Outcome<Owner>>;

export interface PerformOptions {
  readonly handles: Handles;
  readonly memory: ActivationMemory;
  readonly installed: ReadonlyMap<string, Installed>;
  /** `null`: there is no control plane, and no account. */
  readonly plane: ControlPlane | null;
  readonly factory: RemoteMCPClientFactory;
  readonly openProcess: OpenProcess;
  readonly newId: () => string;
  /** A fact that no effect asked for: a process that is gone. */
  readonly tell: (fact: Fact) => void;
  /** An owner says that its tools changed. */
  readonly onToolsChanged: (connector: string) => void;
}

export function performer(options: PerformOptions): Perform {
  return async (effect, context) => {
    if (effect.kind !== 'fetchSnapshot')
      return effect.kind === 'closeRoute' ? closeRoute(options, effect) : openRoute(options, effect, context);
    const { account, epoch } = effect;
    if (options.plane !== null)
      return fetchSnapshot(options.plane, { ...effect, startedAt: context.startedAt }, context.signal);
    return { type: 'snapshot.failed', data: { account, epoch, reason: 'no-control-plane', retryAfterMs: null } };
  };
}

async function closeRoute({ handles }: PerformOptions, effect: RouteEffect): Promise<FactOf<'route.closed'>> {
  const handle = handles.take(effect);
  await handle?.owner.close();
  return {
    type: 'route.closed',
    data: { ...nameOf(effect), reason: handle === undefined ? 'was gone already' : 'closed' },
  };
}

type Opened = Outcome<{ readonly owner: Owner; readonly tools: Tools }>;

async function openRoute(options: PerformOptions, effect: RouteEffect, context: PerformContext): Promise<Fact> {
  const opened = await open(options, effect, context);
  if (!opened.ok) return openFailed(effect, context, opened.failure);
  const { owner, tools } = opened.value;
  if (context.signal.aborted) {
    await owner.close();
    return openFailed(effect, context, fail('aborted', 'no longer wanted').failure);
  }
  await options.handles.take(effect)?.owner.close();
  options.handles.add(effect, owner);
  // After this outcome is in the log: an end that is told before its beginning would be no end.
  setImmediate(() => void owner.exited.then((reason) => exited(options, effect, owner, reason)));
  return { type: 'route.opened', data: { ...nameOf(effect), tools } };
}

function exited({ handles, tell }: PerformOptions, effect: RouteEffect, owner: Owner, reason: string): void {
  // Closed by us, or replaced: then its outcome is told by whoever did that.
  if (handles.find(effect)?.owner !== owner) return;
  handles.take(effect);
  tell({ type: 'route.exited', data: { ...nameOf(effect), reason: reason.slice(0, 256) } });
}

function open(options: PerformOptions, effect: RouteEffect, context: PerformContext): Promise<Opened> {
  const installed = options.installed.get(effect.connector);
  if (installed === undefined) return Promise.resolve(fail('contract', 'the connector is not installed'));
  if (installed.kind === 'stdio') return openLocal(options, installed, context.signal);
  if (effect.account === null || installed.binding === null)
    return Promise.resolve(fail('contract', 'a remote connector needs an account'));
  return openRemote(options, requestOf(options, effect, installed, effect.account, installed.binding), context);
}

async function openLocal(options: PerformOptions, installed: Installed, signal: AbortSignal): Promise<Opened> {
  const onToolsChanged = (): void => options.onToolsChanged(installed.connector);
  const process = await options.openProcess(installed, { signal, onToolsChanged });
  if (!process.ok) return process;
  const owner = process.value;
  return usable(owner, () => activateLocal(owner, signal));
}

async function openRemote(
  options: PerformOptions,
  request: RemoteClientRequest,
  context: PerformContext,
): Promise<Opened> {
  const client = options.factory(request);
  const owner = remoteOwner(client);
  const { signal, stamp } = context;
  return usable(owner, () => activateRemote(client, request, { signal, stamp, memory: options.memory }));
}

/** An owner that was not activated is closed, also when looking at it broke: nobody else knows of its process. */
async function usable(owner: Owner, activate: () => Promise<Outcome<Tools>>): Promise<Opened> {
  let tools: Outcome<Tools> | undefined;
  try {
    tools = await activate();
    return tools.ok ? { ok: true, value: { owner, tools: tools.value } } : tools;
  } finally {
    if (tools?.ok !== true) await owner.close();
  }
}

function remoteOwner(client: RemoteClient): Owner {
  return {
    listPage: (cursor, options) => client.listPage(cursor, options),
    callTool: (call, options) => client.callTool(call, options),
    // A gateway keeps no session in which it could announce anything.
    changes: () => undefined,
    exited: new Promise(() => undefined),
    close: () => client.close(),
  };
}

function requestOf(
  options: PerformOptions,
  effect: RouteEffect,
  installed: Installed,
  account: string,
  binding: NonNullable<Installed['binding']>,
): RemoteClientRequest {
  const { connector, generation, epoch } = effect;
  const connection = localConnection(account, connector);
  return {
    operation: options.newId(),
    connection,
    connector,
    account,
    release: installed.release,
    generation,
    epoch,
    binding,
  };
}

function nameOf({ account, connector, generation, epoch }: RouteEffect) {
  return { account, connector, generation, epoch };
}

/** The stamp is the one the route had when the effect began: what is learned now is about then (law L6). */
function openFailed(
  effect: RouteEffect,
  { stamp, signal }: PerformContext,
  failure: Failure,
): FactOf<'route.openFailed'> {
  const code = rejectionOf(failure) ?? null;
  const { retryAfterMs } = failure;
  const data = {
    ...nameOf(effect),
    ...{ stamp, code, detail: detailOf(failure) },
    reason: signal.aborted && code === null ? ('aborted' as const) : openFailure(failure.kind),
    retryAfterMs: retryAfterMs === undefined ? null : Math.round(clampDelay(retryAfterMs)),
  };
  return { type: 'route.openFailed', data };
}

/** Our own words only: what a server says may hold anything, and the log is shared (law L16). */
function detailOf({ error, message, code, status }: Failure): string {
  if (error === undefined) return message.slice(0, 256);
  const name = errorRow(error.code)?.name ?? 'an error of its own';
  return `answered ${name} (code ${code ?? error.code}, status ${status ?? 'none'})`;
}
