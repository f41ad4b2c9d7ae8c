/**
 * Starts the children of `up` in the order in which they need one another, and answers what a client needs to know.
 *
 * authority → logins → demo's outside world, gateway → daemon → the first account.
 */
import { z } from 'zod';
import { bareEnvironment } from '../../demo/index.ts';
import { callControl } from '../../host/controlClient.ts';
import type { Status } from '../../reconcile/index.ts';
import { demoDirectory } from '../demo.ts';
import type { Output } from '../output.ts';
import { pathsOf } from '../paths.ts';
import type { CommonOptions } from '../program.ts';
import type { ReadyLine } from './child.ts';
import { writePrivate } from './directory.ts';
import type { Fleet } from './fleet.ts';
import { missingLine } from './packages.ts';
import { demoAccounts } from './plan.ts';
import { adminOf, keepBegun, prepare, type Prepared } from './prepare.ts';
import { signIn } from './signIn.ts';

export type UpOptions = CommonOptions & { readonly poll?: number };

const endpointSchema = z.object({ mcpUrl: z.string(), mcpToken: z.string() });

/** The one ready line. */
export interface Ready extends Readonly<Record<string, unknown>> {
  readonly mcpUrl: string;
}

export interface Up {
  readonly ready: Ready;
  readonly tokenFile: string;
}

export async function bringUp(fleet: Fleet, state: string, options: UpOptions, output: Output): Promise<Up> {
  const prepared = await prepare(state, options.poll);
  const missing = missingLine();
  if (missing !== undefined) output.note(missing);
  const start = starter(fleet, prepared, options, output);
  const authority = await start('authority', ['authority', '--config', prepared.layout.configFile]);
  await signIn(adminOf(state), prepared.layout);
  const [gateway] = await Promise.all([
    start('gateway', ['gateway', '--config', prepared.layout.configFile]),
    // It plays somebody else's machine, and shows its environment to whoever asks.
    start('world', ['demo-world', prepared.layout.worldFile], bareEnvironment(demoDirectory(state))),
  ]);
  await start('daemon', ['daemon', '--config', prepared.layout.configFile, '--state', state]);
  const { controlSocket } = pathsOf(process.env, state);
  if (!prepared.begun) await chooseFirst(controlSocket);
  keepBegun(prepared);
  const endpoint = endpointSchema.parse(await callControl(controlSocket, 'endpoint'));
  writePrivate(prepared.layout.tokenFile, `${endpoint.mcpToken}\n`);
  return {
    tokenFile: prepared.layout.tokenFile,
    ready: {
      ready: true,
      ...endpoint,
      gatewayUrl: gateway['url'],
      authorityUrl: authority['controlUrl'],
      adminUrl: authority['adminUrl'],
      adminToken: prepared.adminToken,
      viewerUrl: null,
      stateDir: state,
      pids: { authority: fleet.pid('authority'), gateway: fleet.pid('gateway'), daemon: fleet.pid('daemon') },
    },
  };
}

type Start = (name: string, args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<ReadyLine>;

function starter(fleet: Fleet, { layout }: Prepared, { verbose, quiet }: UpOptions, output: Output): Start {
  const [program = '', main = ''] = process.argv;
  const level = verbose === true ? ['--verbose'] : quiet === true ? ['--quiet'] : [];
  return (name, args, env) => {
    let lives = 0;
    return fleet.start({
      name,
      command: [program, ...process.execArgv, main, ...args, '--json', ...level],
      logFile: layout.logFile(name),
      ...(env !== undefined && { env }),
      onReady: (pid) => {
        if (++lives > 1) output.note(`${name} runs again (pid ${String(pid)})`);
      },
      onDeath: (how, retryMs) => {
        output.note(`${name} ended (${how}); it is started again in ${String(retryMs)} ms`);
      },
    });
  };
}

/** The demo begins as somebody; later the person's own choice holds, signing out included. */
async function chooseFirst(controlSocket: string): Promise<void> {
  const { account } = (await callControl(controlSocket, 'status')) as Status;
  if (account === null) await callControl(controlSocket, 'account.use', { account: demoAccounts[0] });
}
