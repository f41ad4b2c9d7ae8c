#!/usr/bin/env node
/**
 * cli: the composition roots of the house.
 *
 * Answers: what a person, a script or a service manager asks of `dacapo`; it is where rooms are put together.
 * May import: every room, commander, pino, yaml, zod, undici.
 * Must never: decide. A rule that is only here is in the wrong room.
 */
import { CommanderError } from 'commander';
import { EXIT, type ExitCode } from './exit.ts';
import { sayError, settled, watchStreams } from './output.ts';
import { buildProgram } from './program.ts';
import { version } from './version.ts';

/** Runs one command line to its exit code. Never throws: what went wrong has been said on stderr. */
async function main(args: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const program = buildProgram(version, (done) => (code = done));
  throwInsteadOfExit(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return sayError(error, args.includes('--verbose'));
  }
}

type Program = ReturnType<typeof buildProgram>;

/** commander passes this setting on only to commands made after it. */
function throwInsteadOfExit(command: Program, above: readonly string[] = []): void {
  const words = [...above, command.name()];
  command.exitOverride().showHelpAfterError(`(see: ${words.join(' ')} --help)`);
  for (const below of command.commands) throwInsteadOfExit(below, words);
}

watchStreams();
const code = await main(process.argv.slice(2));
// A connection kept alive by a client library must not keep the command alive.
process.exit(await settled(code));
