import { openSqliteLogReadOnly, type RecordedEvent } from '../../events/index.ts';
import { transcript } from '../../replay/index.ts';
import { CommandError, EXIT } from '../exit.ts';
import { assertReached } from '../logFile.ts';
import { styled } from '../output.ts';
import { pathsOf } from '../paths.ts';
import type { CommonOptions, Run } from '../program.ts';

type Options = CommonOptions & { readonly from?: number; readonly jsonl?: boolean; readonly transcript?: boolean };

/** Prints events as they were recorded, oldest first. Lazy: a long log costs no memory. */
export const run: Run<Options> = async ({ options, output }) => {
  refuseBoth(options);
  const reader = await openSqliteLogReadOnly(pathsOf(process.env, options.state).log);
  const structured = options.jsonl === true || options.json === true;
  try {
    const { from = 1 } = options;
    // What comes next is a question, and has no answer yet.
    assertReached(reader, from - 1);
    const form = structured ? (event: RecordedEvent) => JSON.stringify(event) : text;
    await output.lines(options.transcript === true ? transcript(reader, { from }) : mapped(reader.read(from), form));
  } finally {
    reader.close();
  }
  return EXIT.ok;
};

/** A program that asked for JSON would find out line by line that it reads text. */
function refuseBoth({ transcript: wanted, json, jsonl }: Options): void {
  if (wanted !== true || (json !== true && jsonl !== true)) return;
  const form = jsonl === true ? '--jsonl' : '--json';
  const next = `drop ${form} for the transcript, or --transcript for the events as JSON`;
  throw new CommandError(EXIT.usage, 'a transcript is text, and has no form in JSON', next);
}

function* mapped(events: Iterable<RecordedEvent>, form: (event: RecordedEvent) => string): Generator<string> {
  for (const event of events) yield form(event);
}

function text({ position, at, type, cause, data }: RecordedEvent): string {
  const when = new Date(at).toISOString();
  const because = cause === null ? '' : ` (because of ${String(cause)})`;
  return `${String(position).padStart(6)}  ${when}  ${styled('bold', type)}${because}  ${JSON.stringify(data)}`;
}
