import { openSqliteLogReadOnly, type RecordedEvent } from '../../events/index.ts';
import { transcript } from '../../replay/index.ts';
import { EXIT } from '../exit.ts';
import { styled } from '../output.ts';
import { pathsOf } from '../paths.ts';
import type { CommonOptions, Run } from '../program.ts';

type Options = CommonOptions & { readonly from?: number; readonly jsonl?: boolean; readonly transcript?: boolean };

/** Prints events as they were recorded, oldest first. Lazy: a long log costs no memory. */
export const run: Run<Options> = async ({ options, output }) => {
  const reader = await openSqliteLogReadOnly(pathsOf(process.env, options.state).log);
  const structured = options.jsonl === true || options.json === true;
  try {
    const { from = 1 } = options;
    if (options.transcript === true) for (const line of transcript(reader, { from })) await output.line(line);
    else for (const event of reader.read(from)) await output.line(structured ? JSON.stringify(event) : text(event));
  } finally {
    reader.close();
  }
  return EXIT.ok;
};

function text({ position, at, type, cause, data }: RecordedEvent): string {
  const when = new Date(at).toISOString();
  const because = cause === null ? '' : ` (because of ${String(cause)})`;
  return `${String(position).padStart(6)}  ${when}  ${styled('bold', type)}${because}  ${JSON.stringify(data)}`;
}
