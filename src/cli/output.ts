/**
 * What a command says, and where: its result on stdout, everything else on stderr. `--json` prints one document with
 * `schemaVersion`, `--jsonl` one a line. Colour only for a person's terminal (NO_COLOR and FORCE_COLOR are obeyed).
 */
import { setImmediate } from 'node:timers/promises';
import { styleText } from 'node:util';
import { CommandError, EXIT, verdictOf, type ExitCode } from './exit.ts';
import { coloured, plain } from './plain.ts';

/** Raised when a key of a document changes or goes; adding one does not raise it. */
export const SCHEMA_VERSION = 1;

export interface Output {
  readonly json: boolean;
  /** The result: the document with `--json`, else the text for a person. Called once. */
  result(document: Readonly<Record<string, unknown>>, text: () => string): void;
  /**
   * Lines of a stream on stdout, as they are. The next is asked for when the reader took the one before, so that a long log does not
   * pile up in memory; and none is once stdout takes no more.
   */
  lines(texts: Iterable<string>): Promise<void>;
  /** Something beside the result, on stderr. Silent with `--quiet`. */
  note(text: string): void;
}

export interface OutputOptions {
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

export function openOutput(options: OutputOptions): Output {
  const json = options.json === true;
  return {
    json,
    result: (document, text) => {
      const said = json ? JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...document }) : coloured(text());
      process.stdout.write(said.endsWith('\n') ? said : `${said}\n`);
    },
    lines: async (texts) => {
      for (const text of texts) {
        await written(process.stdout, `${text}\n`);
        if (lost !== undefined) return;
      }
    },
    note: (text) => {
      if (options.quiet !== true) process.stderr.write(`${coloured(text)}\n`);
    },
  };
}

type Style = Parameters<typeof styleText>[0];

/** Styled for stdout when that is a terminal that wants it. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/** Columns of a table, padded; the last one as it is. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => (row[index] ?? '').length)));
  const padded = (row: readonly string[]): string =>
    row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ');
  return rows.map((row) => padded(row).trimEnd()).join('\n');
}

/** Says on stderr what went wrong and what to do next; answers the exit code. */
export function sayError(error: unknown, verbose: boolean): ExitCode {
  const { exit, next } = verdictOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const head = styleText('red', 'error:', { stream: process.stderr });
  process.stderr.write(`${head} ${plain(message)}\n  next: ${next}\n`);
  if (verbose && error instanceof Error) process.stderr.write(`${plain(error.stack ?? '')}\n`);
  return exit;
}

/** The exit code of a stdout that takes no more, once it is so. */
let lost: ExitCode | undefined;

/**
 * A reader that went away (`dacapo log show | head`) is not an error, and no reason to end: the command may have a verdict still.
 * Any other error is said at once, as the result is lost. Of one on stderr there is nowhere left to speak.
 */
export function watchStreams(): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    lost ??= error.code === 'EPIPE' ? EXIT.ok : sayError(unwritten(error), false);
  });
}

function unwritten(error: Error): CommandError {
  const next = 'send it to another place; what the command changes, it has changed';
  return new CommandError(verdictOf(error).exit, `stdout can't be written: ${error.message}`, next);
}

/** Resolves when all was written, with the exit code to end with: what a command found counts for more than what became of its text. */
export async function settled(code: ExitCode): Promise<ExitCode> {
  for (const stream of [process.stdout, process.stderr]) await written(stream, '');
  // The event of an error comes after the callback of its write.
  await setImmediate();
  return code === EXIT.ok ? (lost ?? code) : code;
}

function written(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => {
      resolve();
    });
  });
}
