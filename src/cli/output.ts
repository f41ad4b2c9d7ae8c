/**
 * What a command says, and where: its result on stdout, everything else on stderr. `--json` prints one document with
 * `schemaVersion`, `--jsonl` one a line. Colour only for a person's terminal (NO_COLOR and FORCE_COLOR are obeyed).
 */
import { styleText } from 'node:util';
import { EXIT, verdictOf, type ExitCode } from './exit.ts';
import { coloured, plain } from './plain.ts';

/** Raised when a key of a document changes or goes; adding one does not raise it. */
export const SCHEMA_VERSION = 1;

export interface Output {
  readonly json: boolean;
  /** The result: the document with `--json`, else the text for a person. Called once. */
  result(document: Readonly<Record<string, unknown>>, text: () => string): void;
  /** One line of a stream on stdout, as it is. Resolves when the reader took it, so that a long log does not pile up in memory. */
  line(text: string): Promise<void>;
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
    line: (text) =>
      new Promise((resolve) => {
        process.stdout.write(`${text}\n`, () => {
          resolve();
        });
      }),
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

/** A reader that went away (`dacapo log show | head`) is not an error. */
export function quietOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed);
    });
}
