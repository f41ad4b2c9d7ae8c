import { randomBytes } from 'node:crypto';
import { exportLines, openSqliteLogReadOnly, writeLines } from '../../events/index.ts';
import { EXIT } from '../exit.ts';
import { refuseFolder } from '../logFile.ts';
import { pathsOf } from '../paths.ts';
import type { CommonOptions, Run } from '../program.ts';
import { version } from '../version.ts';

type Options = CommonOptions & { readonly redact?: true };

/** Writes the log to a file that another machine can replay. The file appears whole or not at all. */
export const run: Run<Options, [string]> = async ({ options, output }, file) => {
  refuseFolder(file);
  const reader = await openSqliteLogReadOnly(pathsOf(process.env, options.state).log);
  // A key that nobody keeps: two exports can't be laid beside one another to find a name.
  const redaction = options.redact === true ? { redactKey: randomBytes(32).toString('base64url') } : {};
  try {
    const { head } = reader;
    writeLines(file, exportLines(reader, { package: version, ...redaction }));
    output.result(
      { file, head, redacted: options.redact === true },
      () => `${file}: events up to position ${String(head)}.`,
    );
    return EXIT.ok;
  } finally {
    reader.close();
  }
};
