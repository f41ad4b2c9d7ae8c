import { setTimeout as after } from 'node:timers/promises';
import { ControlBroken } from '../../host/controlClient.ts';
import type { RouteStatus, Status } from '../../reconcile/index.ts';
import { askDaemon, followDaemon } from '../daemon.ts';
import { EXIT } from '../exit.ts';
import type { CommonOptions, Run } from '../program.ts';
import { routeLines } from '../statusText.ts';
import { readSecret } from '../stdin.ts';

type Options = CommonOptions & { readonly secretStdin?: boolean };
interface Step {
  readonly step: 'redirect' | 'ended';
  readonly url?: string;
  readonly outcome?: string;
  readonly reason?: string | null;
}

/**
 * Authorizes a connector for the active account, and waits a little until its tools are there. Exit 4 when it was not granted, 5 when
 * the daemon went away meanwhile.
 */
export const run: Run<Options, [string]> = async ({ options, output }, connector) => {
  const secret = options.secretStdin === true ? { secret: await readSecret() } : {};
  let ended: Step | undefined;
  for await (const value of followDaemon(options, 'connect', { connector, ...secret })) {
    const step = value as Step;
    if (step.step === 'redirect') output.note(`Go on in a browser: ${String(step.url)}`);
    else ended = step;
  }
  if (ended === undefined) throw new ControlBroken('connect');
  const { outcome = 'failed', reason = null } = ended;
  const granted = outcome === 'succeeded';
  const route = granted ? await settled(options, connector) : undefined;
  const without = granted ? `${connector} is connected` : `${connector} was not connected: ${reason ?? outcome}`;
  output.result({ connector, outcome, reason, state: route?.state ?? null }, () =>
    route === undefined ? without : routeLines([route]),
  );
  return granted ? EXIT.ok : EXIT.unauthorized;
};

const PATIENCE = 50;
const LOOK_MS = 100;

/** The route once it is published or has failed to open; after some patience, as it is. */
async function settled(options: CommonOptions, connector: string): Promise<RouteStatus | undefined> {
  let found: RouteStatus | undefined;
  for (let look = 0; look < PATIENCE; look++) {
    const { routes } = (await askDaemon(options, 'status')) as Status;
    found = routes.find((route) => route.connector === connector);
    if (found?.state === 'published' || found?.state === 'faulted') return found;
    await after(LOOK_MS);
  }
  return found;
}
