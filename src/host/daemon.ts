/**
 * A whole daemon in one call: the log, the core, its hands and ears, the server that agents talk to, and the control socket. What
 * can't be reached is a state with a reason; only what makes the state directory unusable fails the start.
 */
import { chmodSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteLog, systemEdge, type SqliteLog } from '../events/index.ts';
import type { Reconciler } from '../reconcile/index.ts';
import { Authorizations } from './authorization.ts';
import { Closers } from './closers.ts';
import { daemonCommands } from './commands.ts';
import { daemonConfigSchema, type DaemonConfig, type DaemonConfigInput } from './config.ts';
import { openControl } from './control.ts';
import { openCore, type Core } from './core.ts';
import { openEars } from './ears.ts';
import { openFront } from './front.ts';
import { silent, type Log } from './log.ts';
import type { RemoteMCPClientFactory } from './routes/remoteClientFactory.ts';
import type { Naming } from './server/names.ts';

/** What an embedder may put in place of the usual. */
export interface DaemonPorts {
  readonly log?: Log;
  /** Where children get their PATH and HOME from. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Another way to a gateway than the direct one. */
  readonly factory?: RemoteMCPClientFactory;
  readonly naming?: Naming;
}

export interface Daemon {
  readonly mcpUrl: string;
  readonly mcpToken: string;
  readonly controlSocket: string;
  readonly reconciler: Reconciler;
  /** Resolves when the core can't go on: nothing is published any more, and the process should end and start anew. */
  readonly failed: Promise<unknown>;
  /** Lets running calls end, then leaves no child, timer or socket behind. */
  close(): Promise<void>;
}

/**
 * Starts a daemon. Throws a ZodError for a configuration that is none, and what opening the log throws (LogConflict when another
 * daemon has the state directory); then nothing is left running.
 */
export async function openDaemon(input: DaemonConfigInput, ports: DaemonPorts = {}): Promise<Daemon> {
  const config = daemonConfigSchema.parse(input);
  const closers = new Closers();
  try {
    return await open({ ...config, stateDir: prepareStateDir(config.stateDir) }, ports, closers);
  } catch (error) {
    await closers.close().catch(() => undefined);
    throw error;
  }
}

async function open(config: DaemonConfig, ports: DaemonPorts, closers: Closers): Promise<Daemon> {
  const log = ports.log ?? silent;
  const events = await openSqliteLog(join(config.stateDir, 'log.sqlite'));
  closers.add(() => events.close());
  const core = openCore({ config, ports, log, events, edge: systemEdge(newestAt(events)), closers });
  const front = await openFront(core);
  const accounts = await openEars(core);
  const controlSocket = join(config.stateDir, 'control.sock');
  const commands = daemonCommands({
    ...{ reconciler: core.reconciler, log: events, accounts, aggregate: front.aggregate, endpoint: front.endpoint },
    authorizations: authorizationsOf(core),
    about: () => ({ ...core.about(), mcpUrl: front.endpoint.mcpUrl, busy: front.busy() }),
    package: config.hostVersion,
  });
  const control = await openControl(controlSocket, commands, log);
  closers.add(() => control.close());
  return {
    ...front.endpoint,
    controlSocket,
    reconciler: core.reconciler,
    failed: core.failed,
    close: () => closers.close(),
  };
}

function authorizationsOf({ plane, reconciler, installed, edge }: Core): Authorizations {
  return new Authorizations({ plane, reconciler, installed, newId: () => edge.newId() });
}

/** Made with mode 0700, and kept so: whoever can enter may open the control socket. */
function prepareStateDir(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
  return realpathSync(path);
}

/** `at` of the newest event: time does not go back over a restart. */
function newestAt(events: SqliteLog): number {
  for (const event of events.read(Math.max(1, events.head))) return event.at;
  return 0;
}
