import { randomBytes } from 'node:crypto';
import { exportLines, openSqliteLogReadOnly, writeLines } from '../../events/index.ts';
import { EXIT } from '../exit.ts';
import { positionOf, refuseNoFile } from '../logFile.ts';
import { pathsOf } from '../paths.ts';
import type { CommonOptions, Moment, Run } from '../program.ts';
import { version } from '../version.ts';

type Options = CommonOptions & { readonly redact?: true; readonly until?: Moment };

/** Writes the log to a file that another machine can replay. The file appears whole or not at all. */
export const run: Run<Options, [string]> = async ({ options, output }, file) => {
  refuseNoFile(file);
  const reader = await openSqliteLogReadOnly(pathsOf(process.env, options.state).log);
  // A key that nobody keeps: two exports can't be laid beside one another to find a name.
  const redaction = options.redact === true ? { redactKey: randomBytes(32).toString('base64url') } : {};
  try {
    const until = positionOf(reader, options.until, output);
    writeLines(file, exportLines(reader, { package: version, until, ...redaction }));
    const head = until === undefined ? reader.head : reader.endOf(until);
    output.result(
      { file, head, redacted: options.redact === true },
      () => `${file}: events up to position ${String(head)}.`,
    );
    return EXIT.ok;
  } finally {
    reader.close();
  }
};
