import { askDaemon } from '../daemon.ts';
import { pathsOf } from '../paths.ts';
import type { Run } from '../program.ts';
import { codeOf, untilTold } from '../serve.ts';
import type { StatusDocument } from '../statusText.ts';
import { holdDirectory } from '../up/directory.ts';
import { openFleet, Stopping } from '../up/fleet.ts';
import { bringUp, type Up, type UpOptions } from '../up/bringUp.ts';
import { settledStatus } from '../up/settled.ts';
import { welcome } from '../up/welcome.ts';

/** `dacapo up`: everything on this machine, until Ctrl-C. Exit 6 when the state directory is in use. */
export const run: Run<UpOptions> = async ({ options, output }) => {
  const told = untilTold();
  const { state } = pathsOf(process.env, options.state);
  const release = holdDirectory(state, ['control.sock']);
  const fleet = openFleet();
  try {
    const starting = bringUp(fleet, state, options, output);
    starting.catch(() => undefined);
    const up = await Promise.race([starting, told.then(() => undefined)]);
    if (up !== undefined) await Promise.race([greet(up), told]);
    return codeOf(await told);
  } catch (error) {
    if (error instanceof Stopping) return codeOf(await told);
    throw error;
  } finally {
    await fleet.stop();
    release();
  }

  async function greet({ ready, tokenFile }: Up): Promise<void> {
    // Whoever is told sooner, person or script, finds connectors that are still being opened, and no tools.
    const status = await settledStatus(() => askDaemon(options, 'status') as Promise<StatusDocument>);
    output.result(ready, () => {
      const named = options.state !== undefined;
      return welcome({ mcpUrl: ready.mcpUrl, tokenFile, state, named, status });
    });
  }
};
