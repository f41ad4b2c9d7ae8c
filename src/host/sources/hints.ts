/**
 * The channel of hints of the active account. A hint carries no truth; what counts is that each connection, however short, is told
 * (`hints.opened` makes the core read), and that a dead connection is noticed.
 */
import { EMPTY, Observable, catchError, defer, repeat, switchMap, takeUntil, tap, timer } from 'rxjs';
import WebSocket, { type RawData } from 'ws';
import { uint64, type Fact, type FactOf } from '../../events/index.ts';
import { hintGreeting, hintHeartbeatMs, hintPing, hintUrl, limits, readHintFrame } from '../../protocol/index.ts';
import { canBeInstalled } from '../config.ts';
import type { Log } from '../log.ts';
import { SessionRefused, type Sessions } from './sessions.ts';
import { coalesce } from './storm.ts';

export interface HintsOptions {
  readonly url: string;
  readonly deviceId: string;
  readonly sessions: Sessions;
  readonly newId: () => string;
  readonly log: Log;
  readonly times?: Partial<HintTimes>;
  readonly random?: () => number;
}

export interface HintTimes {
  /** A ping goes out this often; without a sign of life for twice as long the connection is replaced: before 45 s are over. */
  readonly pingMs: number;
  /** How long a connection must have held for its loss to count as the first. */
  readonly stableMs: number;
  readonly backoffMs: number;
  readonly backoffCapMs: number;
  /** Hints within this span are one fact. */
  readonly stormMs: number;
  /** A server that does not greet is taken as open after this. */
  readonly readyMs: number;
}
const usual: HintTimes = {
  ...{ pingMs: 15_000, stableMs: 30_000, backoffMs: 1_000, backoffCapMs: 60_000, stormMs: 1_000, readyMs: 5_000 },
};

/**
 * The facts of each account's channel in turn; null closes it. `replace` makes a new connection at once, whatever the old one looks
 * like (the machine slept). Never errors.
 */
export function hintFacts(
  accounts: Observable<string | null>,
  replace: Observable<void>,
  options: HintsOptions,
): Observable<Fact> {
  return accounts.pipe(switchMap((account) => (account === null ? EMPTY : channel(account, replace, options))));
}

function channel(account: string, replace: Observable<void>, options: HintsOptions): Observable<Fact> {
  const times = { ...usual, ...options.times };
  const delays = backoff(times, options.random ?? Math.random);
  const replaced = replace.pipe(tap(() => delays.forget()));
  const one = defer(() => {
    delays.begin();
    return connection(account, options, times).pipe(coalesce(times.stormMs), takeUntil(replaced));
  });
  return one.pipe(repeat({ delay: () => timer(delays.next()) }));
}

interface Backoff {
  begin(): void;
  /** Ms until the next try. */
  next(): number;
  /** The next try is made at once. */
  forget(): void;
}

/** Doubling with full jitter, so that a server that comes back is not met by all its clients together (D35). */
function backoff(times: HintTimes, random: () => number): Backoff {
  let losses = 0;
  let since = 0;
  return {
    begin: () => void (since = performance.now()),
    forget: () => void (losses = -1),
    next: () => {
      const stable = losses >= 0 && performance.now() - since > times.stableMs;
      losses = stable ? 1 : losses + 1;
      return losses === 0 ? 0 : Math.min(times.backoffCapMs, times.backoffMs * 2 ** Math.min(losses, 16)) * random();
    },
  };
}

/** One connection from its opening to its loss. Completes when it is lost, also when it never opened. */
function connection(account: string, options: HintsOptions, times: HintTimes): Observable<Fact> {
  return defer(async () => (await options.sessions.of(account)).cookie).pipe(
    switchMap((cookie) => socket(account, cookie, options, times)),
    catchError((error: unknown) => {
      options.log('debug', 'no channel of hints', {
        reason: error instanceof SessionRefused ? error.reason : 'unknown',
      });
      return EMPTY;
    }),
  );
}

function socket(account: string, cookie: string, options: HintsOptions, times: HintTimes): Observable<Fact> {
  return new Observable<Fact>((out) => {
    const incarnation = options.newId();
    const ws = openSocket(options, cookie);
    let failure: string | undefined;
    let told = false;
    const opened = (): void => {
      if (!told) out.next({ type: 'hints.opened', data: { incarnation } });
      told = true;
    };
    const stopWatching = watch(ws, times, opened);
    ws.on('message', (data) => {
      opened();
      const hint = hintOf(data, account, incarnation);
      if (hint !== undefined) out.next(hint);
    });
    ws.on('error', (error) => (failure = 'code' in error ? String(error.code) : 'refused'));
    ws.on('close', (code) => {
      const reason = failure ?? `closed (${code})`;
      if (told) out.next({ type: 'hints.lost', data: { incarnation, reason } });
      else options.log('debug', 'the channel of hints did not open', { reason });
      out.complete();
    });
    return () => (stopWatching(), ws.terminate());
  });
}

function openSocket(options: HintsOptions, cookie: string): WebSocket {
  const ws = new WebSocket(hintUrl(options.url, options.deviceId), {
    headers: { cookie },
    maxPayload: limits.hintFrameBytes,
    perMessageDeflate: false,
    followRedirects: false,
    handshakeTimeout: limits.connectMs,
  });
  ws.on('open', () => hintGreeting(options.deviceId).forEach((frame) => ws.send(frame)));
  return ws;
}

/** Signs of life. A peer that is gone without a word leaves a connection that looks open for hours (D36). */
function watch(ws: WebSocket, times: HintTimes, opened: () => void): () => void {
  let seen = performance.now();
  let ready: NodeJS.Timeout | undefined;
  const alive = (): void => void (seen = performance.now());
  ws.on('pong', alive).on('ping', alive).on('message', alive).on('open', alive);
  ws.on('open', () => (ready = setTimeout(opened, times.readyMs)));
  const whenOpen = (act: () => void) => () => ws.readyState === WebSocket.OPEN && act();
  const ping = setInterval(
    whenOpen(() => (performance.now() - seen > times.pingMs * 2 ? ws.terminate() : ws.ping())),
    times.pingMs,
  );
  const beat = setInterval(whenOpen(() => ws.send(hintPing(Date.now()))), hintHeartbeatMs); // prettier-ignore
  return () => {
    clearTimeout(ready);
    clearInterval(ping);
    clearInterval(beat);
  };
}

/** Undefined for what is no hint, and for a hint of another account: it must not make us read (C37). */
function hintOf(data: RawData, account: string, incarnation: string): FactOf<'hint.received'> | undefined {
  const frame = readHintFrame(Array.isArray(data) ? Buffer.concat(data) : new Uint8Array(data as Buffer));
  if (frame.kind !== 'hint' || (frame.account !== null && frame.account !== account)) return undefined;
  const revision = frame.revision === null ? null : uint64(frame.revision);
  const connector = frame.connector !== null && canBeInstalled(frame.connector) ? frame.connector : null;
  return { type: 'hint.received', data: { account, revision, connector, incarnation, count: 1 } };
}
