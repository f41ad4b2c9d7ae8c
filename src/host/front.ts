/** The server that agents talk to, over the table and the handles behind it. */
import { join } from 'node:path';
import { keepAccess, readAccess } from './agentAccess.ts';
import type { Core } from './core.ts';
import { Aggregate } from './server/aggregate.ts';
import { Bindings } from './server/bindings.ts';
import { toolChanges } from './server/changes.ts';
import { cursors } from './server/cursor.ts';
import { openLocalServer } from './server/listener.ts';
import { naming } from './server/names.ts';
import { withheldBecause } from './server/withheld.ts';

export interface Front {
  readonly aggregate: Aggregate;
  readonly endpoint: { readonly mcpUrl: string; readonly mcpToken: string };
  /** Requests under way. */
  busy(): number;
}

/** How long running calls may go on when the daemon is told to stop; with the children's time below 6 s (D47). */
const DRAIN_MS = 3_000;

export async function openFront(core: Core): Promise<Front> {
  const { config, reconciler, closers, log, announced } = core;
  const accessFile = join(config.stateDir, 'agent.json');
  const kept = readAccess(accessFile);
  const bindings = new Bindings();
  const mcpToken = bindings.admit('default', 'agents of this machine', kept.token);
  const aggregate = aggregateOf(core);
  const local = await openLocalServer({
    ...{ aggregate, bindings, log, version: config.hostVersion, port: config.port === 0 ? kept.port : config.port },
    changes: toolChanges(reconciler.tables, announced),
  });
  closers.add(() => local.close(DRAIN_MS));
  keepAccess(accessFile, { port: local.port, token: mcpToken });
  return { aggregate, endpoint: { mcpUrl: local.url, mcpToken }, busy: () => local.busy };
}

function aggregateOf({ config, ports, reconciler, handles, memory, installed }: Core): Aggregate {
  return new Aggregate({
    ...{ handles, naming: ports.naming ?? naming, cursors: cursors(), listDeadlineMs: config.listDeadlineMs },
    table: () => reconciler.table,
    withheld: (owns) => {
      const { account, routes } = reconciler.status();
      return withheldBecause({ account, routes, installed: installed.keys() }, owns);
    },
    onRejected: ({ account, epoch, connector, generation, stamp }, code) => {
      if (account === null) return;
      memory.forget({ account, connector });
      reconciler.accept({ type: 'call.rejected', data: { account, epoch, connector, generation, stamp, code } });
    },
  });
}
