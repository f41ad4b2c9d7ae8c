/** Whether an HTTP answer of ours is in order: a status of the table, and one JSON-RPC response in a body or in the last event. */
import { errorTable, openSseReader, parseJson, parseMessage } from '../../../src/protocol/index.ts';

const codes: ReadonlySet<number> = new Set(errorTable.map(({ code }) => code));
/** Refusals before the body counts, beside the statuses of the table; 500 is what nothing may come to. */
const statuses: ReadonlySet<number> = new Set([
  200,
  202,
  401,
  403,
  405,
  406,
  409,
  413,
  415,
  417,
  431,
  ...tableStatuses(),
]);

function tableStatuses(): readonly number[] {
  return errorTable.map(({ status }) => status).filter((status) => status !== 500);
}

/** `accepted` for a result or a notification that was taken. Throws for an answer that is not in order. */
export function judgeAnswer(status: number, type: string, body: Buffer): 'refused' | 'accepted' {
  if (!statuses.has(status)) throw new Error(`status ${status}: ${body.toString('utf8').slice(0, 200)}`);
  if (status === 202) return 'accepted';
  const text = type.startsWith('text/event-stream') ? lastEvent(body) : body.toString('utf8');
  const message = parseMessage(parseJson(text));
  if (message.kind === 'result') return 'accepted';
  if (message.kind !== 'error' || !codes.has(message.error.code)) throw new Error(`answered ${text.slice(0, 200)}`);
  if (message.error.code === -32603) throw new Error('an internal error');
  return 'refused';
}

function lastEvent(body: Buffer): string {
  return openSseReader().feed(body).at(-1)?.data ?? '';
}
