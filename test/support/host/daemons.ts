/** Daemons for the tests, and ways to wait for what they publish. */
import { filter, firstValueFrom, timeout } from 'rxjs';
import { openDaemon, type Daemon, type DaemonConfigInput, type DaemonPorts } from '../../../src/host/index.ts';
import { folder } from './controlServer.ts';

/** A daemon in a folder of its own. */
export function daemonWith(config: Partial<DaemonConfigInput>, ports: DaemonPorts = {}): Promise<Daemon> {
  return openDaemon({ stateDir: folder(), hostVersion: '1.0.0', ...config }, ports);
}

/** Waits until exactly these connectors are published. */
export async function published(daemon: Daemon, ...connectors: readonly string[]): Promise<void> {
  const wanted = [...connectors].sort().join();
  const tables = daemon.reconciler.tables.pipe(
    filter(
      (table) =>
        [...table.values()]
          .map(({ connector }) => connector)
          .sort()
          .join() === wanted,
    ),
    timeout(20_000),
  );
  await firstValueFrom(tables);
}
