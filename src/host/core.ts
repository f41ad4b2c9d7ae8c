/** The core with its hands: what performs the effects, and what is told of devices at the start. */
import { createHash } from 'node:crypto';
import { Subject } from 'rxjs';
import type { Edge, SqliteLog } from '../events/index.ts';
import { openReconciler, type Perform, type Reconciler } from '../reconcile/index.ts';
import type { Closers } from './closers.ts';
import type { DaemonConfig } from './config.ts';
import type { DaemonPorts } from './daemon.ts';
import type { Log } from './log.ts';
import { openPools, type Pools } from './pools.ts';
import { ActivationMemory } from './routes/activation.ts';
import { directFactory } from './routes/directFactory.ts';
import { Handles } from './routes/handles.ts';
import { performer, type PerformOptions } from './routes/perform.ts';
import { processes } from './routes/processes.ts';
import { sweep } from './routes/processTree.ts';
import { inspect, installedFact } from './sources/connectors.ts';
import { controlPlane } from './sources/controlPlane.ts';
import { sessionFiles, SessionRefused, type Sessions } from './sources/sessions.ts';

export interface CoreOptions {
  readonly config: DaemonConfig;
  readonly ports: DaemonPorts;
  readonly log: Log;
  readonly events: SqliteLog;
  readonly edge: Edge;
  readonly closers: Closers;
}

type Hands = Pick<PerformOptions, 'handles' | 'memory' | 'installed' | 'plane'>;

export interface Core extends CoreOptions, Hands {
  readonly reconciler: Reconciler;
  readonly sessions: Sessions | null;
  /** Owners that announced a change of their tools. */
  readonly announced: Subject<string>;
  readonly failed: Promise<unknown>;
  /** Whether the channel of hints stands. */
  readonly hints: { state: 'off' | 'open' | 'closed' };
  about(): Readonly<Record<string, unknown>>;
}

const REST_EVERY_MS = 60_000;

export function openCore(options: CoreOptions): Core {
  const { config, events, edge, closers } = options;
  const boot = edge.newId();
  const announced = new Subject<string>();
  const hints: Core['hints'] = { state: 'off' };
  const sessions = config.sessionFile === null ? null : sessionFiles(config.sessionFile);
  const hands = openHands(options, sessions, { boot, announced, tell: (fact) => reconciler.accept(fact) });
  const { failed, onFailure } = failure(options);
  const reconciler = openReconciler({
    log: events,
    perform: hands.perform,
    edge,
    package: config.hostVersion,
    boot,
    onFailure,
  });
  closers.add(() => reconciler.close());
  reconciler.tables.subscribe((table) => hands.handles.follow(table));
  reconciler.accept([...hands.installed.values()].map(installedFact));
  const rest = setInterval(() => events.rest(), REST_EVERY_MS);
  closers.add(() => clearInterval(rest));
  const about = () => ({
    ...{ version: config.hostVersion, boot, pid: process.pid, hints: hints.state },
    ...{ position: reconciler.position, readOnly: reconciler.readOnly },
  });
  return { ...options, ...hands, reconciler, sessions, announced, failed, hints, about };
}

interface HandsOptions {
  readonly boot: string;
  readonly announced: Subject<string>;
  readonly tell: PerformOptions['tell'];
}

/** What the effects are performed with. */
function openHands(
  options: CoreOptions,
  sessions: Sessions | null,
  { boot, announced, tell }: HandsOptions,
): Hands & { readonly perform: Perform } {
  const { config, ports, closers, edge } = options;
  const pools = openPools();
  closers.add(() => pools.close());
  const { controlUrl, hostVersion, stateDir } = config;
  const hands: Hands = {
    ...{ handles: new Handles(), memory: new ActivationMemory() },
    installed: new Map(config.connectors.map((one) => [one.id, inspect(one, { version: hostVersion, stateDir })])),
    plane: sessions === null || controlUrl === null ? null : controlPlane({ baseUrl: controlUrl, sessions, pools }),
  };
  const { perform, idle } = tracked(
    performer({
      ...hands,
      factory: ports.factory ?? directly(config, sessions ?? nobody, pools),
      openProcess: processesOf(options, boot),
      ...{ newId: () => edge.newId(), tell, onToolsChanged: (connector) => announced.next(connector) },
    }),
  );
  closers.add(async () => {
    await Promise.all([idle(), hands.handles.closeAll()]);
    // One that was opened while the others closed.
    await hands.handles.closeAll();
  });
  return { ...hands, perform };
}

const directly = ({ mcpUrl, hostVersion }: DaemonConfig, sessions: Sessions, pools: Pools) =>
  directFactory({ baseUrl: mcpUrl, sessions, pools, hostVersion });

const nobody: Sessions = {
  of: () => Promise.reject(new SessionRefused('absent', 'this daemon has no accounts')),
  current: undefined,
};

/** The log has one owner and that is us: whoever bears our mark was left behind by a daemon that was killed. */
function processesOf({ config, ports, log }: CoreOptions, boot: string) {
  const owner = createHash('sha256').update(config.stateDir).digest('hex').slice(0, 16);
  const left = sweep(`${owner}:`);
  if (left > 0) log('warn', 'ended processes that an earlier daemon had left behind', { left });
  const environment = ports.environment ?? process.env;
  return processes({ mark: `${owner}:${boot}`, hostVersion: config.hostVersion, environment, log });
}

function failure({ log }: CoreOptions) {
  let tell: (error: unknown) => void = () => undefined;
  const failed = new Promise<unknown>((resolve) => (tell = resolve));
  const onFailure = (error: unknown): void => {
    log('error', 'the core stopped', { error: error instanceof Error ? error.message : 'unknown' });
    tell(error);
  };
  return { failed, onFailure };
}

/** Knows when no effect is under way: what one of them opened can then be closed. */
function tracked(perform: Perform): { readonly perform: Perform; readonly idle: () => Promise<unknown> } {
  const running = new Set<Promise<unknown>>();
  return {
    perform: (effect, context) => {
      const work = perform(effect, context);
      const done = work.finally(() => running.delete(done)).catch(() => undefined);
      running.add(done);
      return work;
    },
    idle: () => Promise.all(running),
  };
}
