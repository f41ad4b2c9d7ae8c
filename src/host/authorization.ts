/**
 * Connecting and disconnecting from here. Both are frozen to the account and login they began under. A session that succeeds grants
 * nothing: it makes the core read the snapshot. A disconnect withdraws first and asks the server then, because the person said so.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseUint64, type Uint64 } from '../events/index.ts';
import {
  cancelSessionRequest,
  completeSessionRequest,
  disconnectRequest,
  hashConnectionId,
  observeSessionRequest,
  parseJson,
  rawMember,
  readSession,
  readUint64,
  startSessionRequest,
  type ControlFailure,
  type ControlRequest,
  type Session,
} from '../protocol/index.ts';
import type { Reconciler } from '../reconcile/index.ts';
import { ControlUnreachable, type ControlPlane } from './sources/controlPlane.ts';
import { SessionRefused } from './sources/sessions.ts';
import type { Installed } from './sources/connectors.ts';

/** Why a connector could not be connected or disconnected; `reason` for programs, the message for people. */
export class AuthorizationRefused extends Error {
  override readonly name = 'AuthorizationRefused';
  readonly reason:
    | 'signed-out'
    | 'not-installed'
    | 'needs-no-authorization'
    | 'secret-needed'
    | 'busy'
    | ControlFailure['kind']
    | 'no-control-plane';
  constructor(reason: AuthorizationRefused['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface AuthorizationsOptions {
  readonly plane: ControlPlane | null;
  readonly reconciler: Pick<Reconciler, 'accept' | 'active'>;
  readonly installed: ReadonlyMap<string, Installed>;
  readonly newId: () => string;
  /** How often a session that a person completes elsewhere is looked at, and for how long. */
  readonly pollMs?: number;
  readonly ttlMs?: number;
}

/** What a person is told while connecting. */
export type ConnectStep =
  | { readonly step: 'redirect'; readonly url: string }
  | { readonly step: 'ended'; readonly outcome: Outcome; readonly reason: string | null };

type Outcome = 'succeeded' | 'failed' | 'canceled' | 'expired';

interface Scope {
  readonly plane: ControlPlane;
  readonly account: string;
  readonly epoch: number;
  readonly connector: string;
  readonly version: string;
  readonly signal: AbortSignal;
}

export class Authorizations {
  readonly #options: AuthorizationsOptions;
  readonly #busy = new Set<string>();

  constructor(options: AuthorizationsOptions) {
    this.#options = options;
  }

  /** Connects the active account. Yields where a person has to go, then how it ended. Throws {@link AuthorizationRefused}. */
  async *connect(
    connector: string,
    secret: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<ConnectStep, void, undefined> {
    const scope = this.#scope(connector, signal);
    yield* this.#alone(scope, this.#session(scope, secret));
  }

  /** Revokes the active account's connection. Throws {@link AuthorizationRefused}; the route is withdrawn either way. */
  async disconnect(connector: string, signal: AbortSignal): Promise<void> {
    const scope = this.#scope(connector, signal);
    const { account, epoch } = scope;
    const data = { account, epoch, connector };
    this.#options.reconciler.accept({ type: 'connection.dropping', data });
    try {
      const revision = revisionIn(await ask(scope, disconnectRequest(connector)));
      this.#options.reconciler.accept({ type: 'connection.dropped', data: { ...data, revision } });
    } catch (error) {
      const reason = dropReason(error);
      this.#options.reconciler.accept({ type: 'connection.dropFailed', data: { ...data, reason } });
      throw error;
    }
  }

  #scope(connector: string, signal: AbortSignal): Scope {
    const { plane, reconciler, installed } = this.#options;
    const found = installed.get(connector);
    const { active } = reconciler;
    if (plane === null)
      throw new AuthorizationRefused('no-control-plane', 'this daemon has no control plane: set controlUrl');
    if (found === undefined) throw new AuthorizationRefused('not-installed', `${connector} is not installed`);
    if (found.authorization === 'none' || found.kind !== 'remote')
      throw new AuthorizationRefused('needs-no-authorization', `${connector} needs no authorization`);
    if (active === null) throw new AuthorizationRefused('signed-out', 'nobody is signed in: use an account first');
    return { plane, ...active, connector, version: found.release.version, signal };
  }

  /** One at a time for an account's connector: two sessions would replace one another. */
  async *#alone<T>({ account, connector }: Scope, steps: AsyncGenerator<T>): AsyncGenerator<T, void, undefined> {
    const key = JSON.stringify([account, connector]);
    if (this.#busy.has(key)) throw new AuthorizationRefused('busy', `${connector} is being connected already`);
    this.#busy.add(key);
    try {
      yield* steps;
    } finally {
      this.#busy.delete(key);
    }
  }

  async *#session(scope: Scope, secret: string | undefined): AsyncGenerator<ConnectStep> {
    const { connector, version: connectorVersion } = scope;
    const request = { connector, connectorVersion, clientRequestId: this.#options.newId(), replace: true };
    const begun = readSession(await ask(scope, startSessionRequest(request)), { connectorVersion });
    let ended = false;
    try {
      for await (const step of this.#steps(scope, begun, secret)) {
        ended ||= step.step === 'ended';
        yield step;
      }
    } finally {
      // The reply was lost, or whoever asked has left: the server may have connected all the same, and only a read tells.
      if (!ended) this.#tell(scope, 'failed', null, 'outcome-unknown');
    }
  }

  async *#steps(scope: Scope, begun: Session, secret: string | undefined): AsyncGenerator<ConnectStep> {
    if (begun.status === 'SUCCEEDED') return yield this.#end(scope, begun);
    if (begun.nextAction?.type === 'redirect') {
      yield { step: 'redirect', url: begun.nextAction.url };
      return yield this.#end(scope, await this.#observe(scope, begun.sessionId));
    }
    yield this.#end(scope, await complete(scope, begun.sessionId, secret));
  }

  /** Until a person has done elsewhere what there was to do. */
  async #observe(scope: Scope, sessionId: string): Promise<Session | undefined> {
    const { pollMs = 2_000, ttlMs = 600_000 } = this.#options;
    const endAt = performance.now() + ttlMs;
    while (performance.now() < endAt) {
      await pause(pollMs, undefined, { signal: scope.signal });
      const session = await look(scope, sessionId);
      if (session !== undefined && ['SUCCEEDED', 'FAILED', 'CANCELED'].includes(session.status)) return session;
    }
    return undefined;
  }

  /** Tells the core, which reads the snapshot; `session` undefined: nobody completed it in time. */
  #end(scope: Scope, session: Session | undefined): ConnectStep {
    const outcome = session === undefined ? 'expired' : (outcomes[session.status] ?? 'failed');
    const id = session?.resultConnectionId ?? null;
    // A code, or nothing: a server's sentence may hold anything.
    const reason = /^[A-Za-z0-9_.-]{1,64}$/.exec(session?.errorCode ?? '')?.[0] ?? null;
    this.#tell(scope, outcome, id === null ? null : hashConnectionId(id), reason);
    return { step: 'ended', outcome, reason };
  }

  #tell(
    { account, epoch, connector }: Scope,
    outcome: Outcome,
    connectionIdHash: string | null,
    reason: string | null,
  ): void {
    const data = { account, epoch, connector, outcome, connectionIdHash, reason };
    this.#options.reconciler.accept({ type: 'authorization.ended', data });
  }
}

const outcomes: Partial<Record<Session['status'], Outcome>> = {
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELED: 'canceled',
};

async function complete(scope: Scope, sessionId: string, secret: string | undefined): Promise<Session> {
  if (secret !== undefined)
    return readSession(await ask(scope, completeSessionRequest(sessionId, secret)), { sessionId });
  await ask(scope, cancelSessionRequest(sessionId)).catch(() => undefined);
  throw new AuthorizationRefused(
    'secret-needed',
    `${scope.connector} is connected with a secret: pass it with --secret-stdin`,
  );
}

/** The session as it is; undefined when the server is away for a moment, in which the person goes on all the same. */
async function look(scope: Scope, sessionId: string): Promise<Session | undefined> {
  try {
    return readSession(await ask(scope, observeSessionRequest(sessionId)), { sessionId });
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw error;
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ControlUnreachable) return error.reason !== 'aborted';
  return error instanceof AuthorizationRefused && (error.reason === 'unavailable' || error.reason === 'limited');
}

/** Sends under the account of the scope. Throws what the control plane throws, and {@link AuthorizationRefused} for a refusal. */
async function ask({ plane, account, signal }: Scope, request: ControlRequest): Promise<Uint8Array> {
  const reply = await plane.send(request, account, signal);
  if (reply.ok) return reply.bytes;
  throw new AuthorizationRefused(reply.failure.kind, refusal(reply.failure));
}

/** For the log, which is shared: a refused session names a file, and in its path an account. */
function dropReason(error: unknown): string {
  if (error instanceof SessionRefused) return `session-${error.reason}`;
  return error instanceof Error ? error.message.slice(0, 256) : 'failed';
}

function refusal({ kind, status, code }: ControlFailure): string {
  return `the server answered ${kind} (status ${status}${code === null ? '' : `, ${code}`})`;
}

/** The revision of a reply, where it names one: the snapshot that will show the change. */
function revisionIn(bytes: Uint8Array): Uint64 | null {
  try {
    const { text } = parseJson(bytes);
    return parseUint64(readUint64(rawMember(text, 'revision'))) ?? null;
  } catch {
    return null;
  }
}
