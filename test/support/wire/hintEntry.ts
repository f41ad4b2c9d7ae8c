/** A frame of the hint channel as an entry point: a WebSocket server on loopback, read as the daemon reads it. */
import { isUtf8 } from 'node:buffer';
import { BehaviorSubject, NEVER } from 'rxjs';
import { silent } from '../../../src/host/log.ts';
import { hintFacts } from '../../../src/host/sources/hints.ts';
import { hintEventType, readyFrame } from '../../../src/protocol/index.ts';
import { controlServer } from '../host/controlServer.ts';
import { BadTexts } from './badText.ts';
import type { Entry } from './siege.ts';

const hint = (revision: string): object => ({
  ...{ protocol_version: 2, event_type: hintEventType, dispatch_id: 'x' },
  payload: { revision, connectorId: 'docs' },
  delivery: { scope: 'user', user_id: 'ann', device_id: 'd' },
});

export async function hintEntry(seed: number): Promise<Entry & { close(): Promise<void> }> {
  const server = await controlServer();
  server.onSocket = (socket) => socket.send(readyFrame('1'));
  const sessions = { of: () => Promise.resolve({ account: 'ann', cookie: 'sid=ann' }), current: undefined };
  const accounts = new BehaviorSubject<string | null>('ann');
  const texts = new BadTexts(seed, [hint('7'), JSON.parse(readyFrame('1'))]);
  let [heard, revision, incarnations] = [0, '', 0];
  const times = { stormMs: 5, backoffMs: 10, backoffCapMs: 20 };
  const options = { url: server.hintsUrl, deviceId: 'd', sessions, newId: () => String(++incarnations), log: silent, times }; // prettier-ignore
  const listening = hintFacts(accounts, NEVER, options).subscribe((fact) => {
    if (fact.type !== 'hint.received') return;
    heard += fact.data.count;
    revision = fact.data.revision ?? revision;
  });
  while (incarnations === 0 || server.sockets.length === 0) await moment();
  let [sent, candidates] = [0, 0];
  return {
    inFlight: 1,
    next: () => texts.next(),
    send: async (frame) => {
      // A frame above the limit closes the channel, which a test of the host holds; here the channel stays.
      if (frame.length > 60_000) return 'accepted';
      const candidate = isHint(frame);
      candidates += Number(candidate);
      // A text that is no UTF-8 ends a channel by the rules of WebSockets, before anybody reads it.
      server.sockets.at(-1)?.send(frame, { binary: ++sent % 2 === 0 || !isUtf8(frame) });
      return candidate ? 'accepted' : 'refused';
    },
    // Again until it stands alone: within a storm only the highest revision is told.
    good: async () => {
      const wanted = String(1_000_000 + candidates);
      for (let waits = 0; revision !== wanted; waits++) {
        if (waits % 10 === 0) {
          candidates += 1;
          server.sockets.at(-1)?.send(JSON.stringify(hint(wanted)));
        }
        await moment();
      }
      if (heard > candidates) throw new Error(`${heard} hints were heard, where ${candidates} can have been`);
    },
    state: () => String(incarnations),
    close: async () => {
      listening.unsubscribe();
      await server.close();
    },
  };
}

const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Whether a frame may be a hint, by another reader than ours. */
function isHint(frame: Buffer): boolean {
  try {
    const value = JSON.parse(frame.toString('utf8')) as { event_type?: unknown; type?: unknown } | null;
    return value?.event_type === hintEventType || value?.type === hintEventType;
  } catch {
    return false;
  }
}
