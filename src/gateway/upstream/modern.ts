/**
 * An upstream that speaks MCP 2026-07-28: one POST a request, its headers made from its body.
 */
import { openDeadline } from '../../protocol/deadline.ts';
import { exchange } from '../../protocol/exchange.ts';
import type { Exchanged } from '../../protocol/exchange.ts';
import { makeId } from '../../protocol/jsonrpc.ts';
import type { Notification, ResultResponse } from '../../protocol/jsonrpc.ts';
import { methods } from '../../protocol/mcp.ts';
import { compose } from '../../protocol/outgoing.ts';
import type { Attachments, Intent } from '../../protocol/outgoing.ts';
import { readCallResult, readToolPage } from '../../protocol/results.ts';
import type { Adapter, Way } from './adapter.ts';
import { outsideProtocol } from './failure.ts';
import { reading, resultOf } from './verdict.ts';

export const modern: Adapter = {
  async list(way, cursor) {
    const intent = { method: methods.list, cursor } as const;
    const { result, resultText } = await ask(way, intent, {}, () => {}, 'again');
    return reading(() => readToolPage(result, resultText));
  },
  async call(way, { name, args, bindings, carriedText, progressToken, onNotification }) {
    const intent = { method: methods.call, name, args, bindings } as const;
    const { result, resultText } = await ask(way, intent, { carriedText, progressToken }, onNotification, 'once');
    return reading(() => readCallResult(result, resultText));
  },
};

/** `again`: a request that reads may be repeated once, when the connection had been closed before it was used. Fault D44, law L17. */
async function ask(
  way: Way,
  intent: Intent,
  attached: Attachments,
  onNotification: (notification: Notification) => void,
  repeat: 'once' | 'again',
): Promise<ResultResponse> {
  const outgoing = compose(way.sender, makeId(1), intent, attached);
  if (typeof outgoing === 'string') throw outsideProtocol(outgoing, 'request');
  const send = (): Promise<Exchanged> => {
    const { firstByteMs, idleMs } = way.target.bounds;
    const deadlines = { firstByteMs, gapMs: idleMs, totalMs: way.endMs - way.nowMs() };
    const deadline = openDeadline(deadlines, way.stop);
    return exchange(way.wire.post, outgoing, { url: way.target.href, deadline, onNotification });
  };
  const first = await send();
  const stale = repeat === 'again' && first.kind === 'broken' && first.stale;
  return resultOf(stale ? await send() : first, way);
}
