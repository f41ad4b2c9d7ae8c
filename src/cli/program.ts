/**
 * The commands by name, for `--help` and for finding the file that does the work. Nothing of that file is loaded before its
 * command was chosen: `--help` costs commander only.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Output } from './output.ts';
import { openOutput } from './output.ts';
import type { ExitCode } from './exit.ts';

/** Options that every command knows. */
export interface CommonOptions {
  readonly state?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** One command: does its work, says its result, answers its exit code. An argument that was optional and not given is `undefined`. */
export type Run<Options = CommonOptions, Arguments extends readonly (string | undefined)[] = []> = (
  context: { readonly options: CommonOptions & Options; readonly output: Output },
  ...args: Arguments
) => Promise<ExitCode>;

type AnyRun = (context: { readonly options: never; readonly output: Output }, ...args: never) => Promise<ExitCode>;

/** A command reports by handing its exit code to `done`; commander has no return value. */
export function buildProgram(version: string, done: (code: ExitCode) => void): Command {
  const program = new Command('dacapo')
    .description('Decides which MCP tools of an account may be seen right now, and can prove why.')
    .version(version)
    .option('--state <dir>', 'state directory (default: $XDG_STATE_HOME/dacapo)')
    .option('--config <file>', 'configuration file (default: $XDG_CONFIG_HOME/dacapo/config.yaml)')
    .option('--json', 'print one JSON document on stdout, or none and the error on stderr')
    .option('--quiet', 'no notes on stderr')
    .option('--verbose', 'say more on stderr')
    .addHelpText('after', exitHelp)
    .configureHelp({ showGlobalOptions: true });

  const bind = (command: Command, load: () => Promise<{ readonly run: AnyRun }>): Command =>
    command.action(async (...args: unknown[]) => {
      const options: CommonOptions = (args.at(-1) as Command).optsWithGlobals();
      const given = args.slice(0, -2);
      const { run } = await load();
      const output = openOutput(options);
      done(await (run as (context: unknown, ...rest: unknown[]) => Promise<ExitCode>)({ options, output }, ...given));
    });

  processes(program, bind);
  routes(program, bind);
  logs(program, bind);
  proofs(program, bind);
  surroundings(program, bind);
  return program;
}

type Bind = (command: Command, load: () => Promise<{ readonly run: AnyRun }>) => Command;

const exitHelp = `
Exit codes: 0 ok, 1 failed, 2 usage or bad config, 3 a check found problems, 4 not authorized,
            5 unavailable, 6 conflict, 130/143 ended by a signal`;

function processes(program: Command, bind: Bind): void {
  bind(
    program
      .command('up')
      .description('start authority, gateway and daemon on loopback, with a demo to try them')
      .option('--poll <ms>', 'milliseconds between two snapshot polls', milliseconds),
    () => import('./commands/up.ts'),
  );
  bind(program.command('daemon').description('run the daemon, by config'), () => import('./commands/daemon.ts'));
  bind(program.command('gateway').description('run the gateway, by config'), () => import('./commands/gateway.ts'));
  bind(
    program.command('authority').description('run the authority, by config'),
    () => import('./commands/authority.ts'),
  );
}

function routes(program: Command, bind: Bind): void {
  bind(
    program.command('status').description('what is published, what is withheld, and why'),
    () => import('./commands/status.ts'),
  );
  const account = program.command('account').description('the active account');
  bind(account.command('use <id>').description('switch to an account'), () => import('./commands/accountUse.ts'));
  bind(account.command('sign-out').description('no account at all'), () => import('./commands/accountSignOut.ts'));
  bind(
    account.command('trust-server').description('accept a server whose revision went back'),
    () => import('./commands/accountTrustServer.ts'),
  );
  bind(
    program
      .command('connect <connector>')
      .description('authorize a connector for the active account')
      .option('--secret-stdin', 'read the secret from stdin'),
    () => import('./commands/connect.ts'),
  );
  bind(
    program.command('disconnect <connector>').description('revoke the authorization of a connector'),
    () => import('./commands/disconnect.ts'),
  );
  bind(program.command('tools').description('the tools an agent sees now'), () => import('./commands/tools.ts'));
  bind(
    program
      .command('call <tool>')
      .description('call a tool through the local MCP server')
      .option('--args <json>', 'arguments as a JSON object', '{}'),
    () => import('./commands/call.ts'),
  );
}

function logs(program: Command, bind: Bind): void {
  const log = program.command('log').description('the event log');
  bind(
    log
      .command('show')
      .description('print events')
      .option('--from <position>', 'first position', position)
      .option('--transcript', 'what each event changed, instead of what it carries')
      .option('--jsonl', 'one JSON document a line, an event each; so does --json'),
    () => import('./commands/logShow.ts'),
  );
  bind(
    log.command('verify [file]').description('recompute the chain of the log, or of an exported one'),
    () => import('./commands/logVerify.ts'),
  );
  bind(
    log
      .command('export <file>')
      .description('write the log to a file that `replay` reads')
      .option('--redact', 'replace account names, keep the chain')
      .option('--until <moment>', 'no further than this position, or this time: all there is of a damaged log', moment),
    () => import('./commands/logExport.ts'),
  );
  bind(
    log.command('compact').description('make the log smaller without losing a word of it, while no daemon runs'),
    () => import('./commands/logCompact.ts'),
  );
  bind(
    program
      .command('replay <file>')
      .description('fold an exported log and say what was published')
      .option('--until <moment>', 'stop after this position, or at this time', moment),
    () => import('./commands/replay.ts'),
  );
  bind(
    program
      .command('why <connector>')
      .description('why a connector is or was published or withheld')
      .option('--account <account>', 'its id, or "account 2" as the texts have it (default: the active one)')
      .option('--at <moment>', 'at this position of the log, or at this time', moment)
      .option('--log <file>', 'an exported log instead of the running daemon'),
    () => import('./commands/why.ts'),
  );
  bind(
    program
      .command('diff <file> [other]')
      .description("hold today's rules against an old log, or two logs against each other"),
    () => import('./commands/diff.ts'),
  );
}

function proofs(program: Command, bind: Bind): void {
  bind(
    program
      .command('simulate')
      .description('run simulated worlds over the shipped core')
      .requiredOption('--seed <n>', 'first seed', position)
      .option('--runs <n>', 'how many worlds', atLeastOne, 1)
      .option('--steps <n>', 'steps of each storm', atLeastOne, 200)
      .option('--processes <n>', 'processes to share them (default: one for each core)', atLeastOne)
      .option('--log <file>', 'write the log of the first world, for replay and why'),
    () => import('./commands/simulate.ts'),
  );
  bind(
    program
      .command('fuzz')
      .description('run simulated worlds from ever new seeds')
      .requiredOption('--minutes <m>', 'for how long', minutes)
      .option('--seed <n>', 'first seed (default: any)', position)
      .option('--processes <n>', 'processes to share them (default: one for each core)', atLeastOne)
      .option('--out <dir>', 'where the log of a world that broke a law is kept (default: here)'),
    () => import('./commands/fuzz.ts'),
  );
  bind(
    program
      .command('prove')
      .description('explore small worlds to their last state')
      .addOption(new Option('--set <set>', 'which worlds').choices(['full', 'short']).default('full'))
      .option('--world <name>', 'one of them'),
    () => import('./commands/prove.ts'),
  );
}

function surroundings(program: Command, bind: Bind): void {
  const demo = program.command('demo').description("move the demo's outside world");
  const key = demo.command('key').description('the key that the demo business server accepts');
  const onOff = (name: string): Command => demo.command(name).addArgument(switchArgument(name));
  bind(key.command('accept <key>').description('accept this key only'), () => import('./commands/demoKeyAccept.ts'));
  bind(key.command('reject').description('accept no key'), () => import('./commands/demoKeyReject.ts'));
  for (const change of ['rotate', 'revoke', 'expire'] as const)
    bind(
      demo
        .command(`${change} <connector>`)
        .description(`${change} the connection on the server`)
        .option('--account <account>', 'its id, or "account 2" as `why` has it (default: the active one)'),
      async () => ({
        run: (await import('./commands/demoChange.ts')).change(change),
      }),
    );
  bind(onOff('hints').description('whether change hints flow'), () => import('./commands/demoHints.ts'));
  bind(onOff('snapshot').description('whether snapshots flow'), () => import('./commands/demoSnapshot.ts'));
  bind(program.command('demo-world <file>', { hidden: true }), () => import('./commands/demoWorld.ts'));
  bind(program.command('paths').description('where things lie'), () => import('./commands/paths.ts'));
  bind(
    program.command('doctor').description('look for what is missing or wrong on this machine'),
    () => import('./commands/doctor.ts'),
  );
}

function switchArgument(name: string): import('commander').Argument {
  return new Command().createArgument('<on|off>', `let ${name} flow or not`).choices(['on', 'off']);
}

/** A place in a log, or the time at which one is looked for. */
export type Moment = { readonly position: number } | { readonly instant: number };

/** A time without a zone would be another moment on another machine. */
function moment(text: string): Moment {
  if (/^\d+$/.test(text)) return { position: position(text) };
  if (/^\d{4}-\d\d-\d\dT[\d:.]+$/.test(text))
    throw new InvalidArgumentError('the zone is missing: a time is like 2026-01-31T14:02Z or 2026-01-31T22:02+08:00.');
  const instant = /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isSafeInteger(instant) || instant < 0)
    throw new InvalidArgumentError('a position, or a time like 2026-01-31T14:02Z, is expected.');
  if (!isDay(text.slice(0, 10))) throw new InvalidArgumentError('the calendar has no such day.');
  return { instant };
}

/** Date.parse takes 30 February for 2 March. */
function isDay(text: string): boolean {
  const day = new Date(text);
  return !Number.isNaN(day.valueOf()) && day.toISOString().startsWith(text);
}

function minutes(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > 1_440)
    throw new InvalidArgumentError('minutes from above 0 to 1440 are expected.');
  return value;
}

function position(text: string): number {
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('a whole number is expected.');
  return value;
}

function atLeastOne(text: string): number {
  const value = position(text);
  if (value === 0) throw new InvalidArgumentError('1 or more is expected.');
  return value;
}

/** Every delay is at most an hour: a longer one overflows the timer and fires at once. */
function milliseconds(text: string): number {
  const value = position(text);
  if (value < 100 || value > 3_600_000) throw new InvalidArgumentError('100 to 3600000 milliseconds are accepted.');
  return value;
}
