/**
 * An upstream of the `initialize` era: each request opens a session, asks and leaves it. The session is deleted off the path.
 */
import type { LegacyAnswer } from '../../protocol/legacy.ts';
import { requestOnce } from '../../protocol/legacy.ts';
import { rawMembers, rawObject } from '../../protocol/raw.ts';
import type { Notification, ResultResponse } from '../../protocol/jsonrpc.ts';
import { isCarried, metaKeys, methods } from '../../protocol/mcp.ts';
import { readCallResult, readToolPage } from '../../protocol/results.ts';
import type { Adapter, UpstreamCall, Way } from './adapter.ts';
import { reading, resultOf } from './verdict.ts';

export const legacy: Adapter = {
  async list(way, cursor) {
    const params = rawObject([['cursor', cursor === undefined ? undefined : JSON.stringify(cursor)]]);
    const { result, resultText } = await ask(way, methods.list, params, () => {}, 'again');
    return reading(() => readToolPage(result, resultText, 'legacy'));
  },
  async call(way, call) {
    const params = rawObject([
      ['name', JSON.stringify(call.name)],
      ['arguments', call.args?.text],
      ['_meta', metaText(call)],
    ]);
    const { result, resultText } = await ask(way, methods.call, params, call.onNotification, 'once');
    return reading(() => readCallResult(result, resultText, 'legacy'));
  },
};

async function ask(
  way: Way,
  method: string,
  paramsText: string,
  onNotification: (notification: Notification) => void,
  repeat: 'once' | 'again',
): Promise<ResultResponse> {
  const send = async (): Promise<LegacyAnswer> => {
    const { firstByteMs, idleMs } = way.target.bounds;
    const deadlines = { firstByteMs, gapMs: idleMs, totalMs: way.endMs - way.nowMs() };
    const { clientInfo, stop, nowMs } = way;
    const url = way.target.href;
    const answer = await requestOnce(way.wire.post, { url, method, paramsText, clientInfo, deadlines, stop, nowMs, onNotification }); // prettier-ignore
    leave(way, answer);
    return answer;
  };
  const { exchanged } = await send();
  const stale = repeat === 'again' && exchanged.kind === 'broken' && exchanged.stale;
  return resultOf(stale ? (await send()).exchanged : exchanged, way);
}

function leave(way: Way, { session }: LegacyAnswer): void {
  if (session === undefined) return;
  void way.wire.remove({ 'mcp-session-id': session.id, 'mcp-protocol-version': session.version });
}

/** What the caller attached, without what the older era does not know; undefined when nothing is left. */
function metaText({ carriedText, progressToken }: UpstreamCall): string | undefined {
  const carried = rawMembers(carriedText ?? '').filter(({ name }) => isCarried(name));
  const token = progressToken === undefined ? undefined : JSON.stringify(progressToken);
  if (carried.length === 0 && token === undefined) return undefined;
  return rawObject([...carried.map(({ name, raw }) => [name, raw] as const), [metaKeys.progressToken, token]]);
}
