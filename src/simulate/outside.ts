/**
 * What a host finds when it reaches out: a control plane that answers snapshots, a gateway that lets a route be opened or refuses,
 * and a network between that loses, delays and garbles. A host of another make can be put in front of it: see host.ts for the port.
 */
import { uint64, type FactOf, type Payload } from '../events/index.ts';
import type { Clock } from './clock.ts';
import type { Weather } from './faults.ts';
import type { Random } from './random.ts';
import type { Line, Server, Truth } from './server.ts';

type Snapshot = Payload<'snapshot.received'>;
export type Reply = Pick<Snapshot, 'serverEpoch' | 'revision' | 'complete' | 'entries'>;
export type Tools = Payload<'route.opened'>['tools'];
export type RejectionCode = 428 | -33001 | -33002;

/** How an attempt to open a route ended. */
export type Dialled =
  | { readonly kind: 'open'; readonly tools: Tools }
  | { readonly kind: 'rejected'; readonly code: RejectionCode }
  | { readonly kind: 'failed'; readonly reason: Exclude<FactOf<'route.openFailed'>['data']['reason'], 'rejected'> };

/** The outside as a host sees it. Every method resolves, also when it was told to stop. */
export interface Outside {
  /** The account's authorizations, or why they could not be had. */
  snapshot(account: string, signal: AbortSignal): Promise<Reply | string>;
  /** Opens a route of an account, or of this device (`null`). */
  dial(account: string | null, connector: string, signal: AbortSignal): Promise<Dialled>;
  hangUp(account: string | null, connector: string, signal: AbortSignal): Promise<void>;
}

const FETCH_LIMIT_MS = 10_000;
const OPEN_LIMIT_MS = 120_000;
/** Below this a wait is over before telling it to stop would make a difference. */
const SHORT_MS = 500;

export class Network implements Outside {
  readonly #random: Random;
  readonly #weather: Weather;
  readonly #clock: Clock;
  readonly #server: Server;
  /** Whether the gateway asks for a connection at all. */
  readonly #needsConnection: (connector: string) => boolean;
  /** A connector that never answers, however calm the world is. */
  readonly #stuck: string | null;
  #lists = 0;

  constructor(
    parts: { random: Random; weather: Weather; clock: Clock; server: Server },
    needsConnection: (connector: string) => boolean,
    stuck: string | null,
  ) {
    this.#random = parts.random;
    this.#weather = parts.weather;
    this.#clock = parts.clock;
    this.#server = parts.server;
    this.#needsConnection = needsConnection;
    this.#stuck = stuck;
  }

  /** Mostly milliseconds, sometimes seconds: that is how messages overtake each other. */
  latencyMs(): number {
    const kind = this.#random.below(10);
    return kind < 6 ? this.#random.between(1, 50) : this.#random.between(50, kind < 9 ? 500 : 4_000);
  }

  snapshot(account: string, signal: AbortSignal): Promise<Reply | string> {
    const failed = this.#weather.strikes('reply-failed');
    const unstoppable = this.#weather.strikes('reply-late') || this.#random.chance(0.5);
    const thereMs = this.latencyMs();
    const backMs = this.latencyMs() + (unstoppable ? this.#random.between(0, 3_000) : 0);
    const late = thereMs + backMs > FETCH_LIMIT_MS;
    const read: { reply?: Reply } = {};
    if (!failed) this.#clock.in(thereMs, () => (read.reply = this.#read(account)));
    return this.#answer(Math.min(thereMs + backMs, FETCH_LIMIT_MS), signal, () => {
      if (signal.aborted && !(unstoppable && this.#weather.strikes('reply-old-epoch'))) return 'aborted';
      return late ? 'timeout' : (read.reply ?? 'HTTP 503');
    });
  }

  dial(account: string | null, connector: string, signal: AbortSignal): Promise<Dialled> {
    const hangs = connector === this.#stuck || this.#weather.strikes('open-hangs');
    const lateMs = this.#weather.strikes('open-late') ? this.#random.between(5_000, 100_000) : 0;
    const unstoppable = !hangs && this.#weather.strikes('open-unstoppable');
    const thereMs = this.latencyMs();
    const asked: { answer?: Dialled } = {};
    if (!hangs) this.#clock.in(thereMs, () => (asked.answer = this.#gateway(account, connector)));
    const totalMs = hangs ? OPEN_LIMIT_MS : thereMs + this.latencyMs() + lateMs;
    return this.#answer<Dialled>(totalMs, signal, () => {
      if (signal.aborted && !unstoppable) return { kind: 'failed', reason: 'aborted' };
      const answer: Dialled = asked.answer ?? { kind: 'failed', reason: 'timeout' };
      if (answer.kind === 'open' && !this.#mayOpen(account, connector)) this.#weather.count('open-after-revoke');
      return answer;
    });
  }

  hangUp(_account: string | null, _connector: string, signal: AbortSignal): Promise<void> {
    const ms = this.#weather.strikes('close-slow') ? this.#random.between(5_000, 60_000) : this.latencyMs();
    return this.#answer(ms, signal, () => undefined);
  }

  /** What the gateway says to a call or an opening, going by the truth of this very instant. `null`: it lets it pass. */
  refusal(account: string | null, connector: string): RejectionCode | null {
    if (this.#mayOpen(account, connector)) return null;
    const expired = account !== null && this.#server.line(account, connector)?.state === 'reauth_required';
    return this.#random.chance(0.3) ? 428 : expired ? -33002 : -33001;
  }

  #mayOpen(account: string | null, connector: string): boolean {
    return account === null || !this.#needsConnection(connector) || this.#server.isConnected(account, connector);
  }

  #gateway(account: string | null, connector: string): Dialled {
    const refusal = this.refusal(account, connector);
    if (refusal !== null) {
      const said = this.#weather.strikes('open-rejected') || this.#weather.calm;
      return said ? { kind: 'rejected', code: refusal } : { kind: 'failed', reason: 'unavailable' };
    }
    if (account !== null && this.#weather.strikes('open-rejected-falsely')) return { kind: 'rejected', code: -33002 };
    if (this.#weather.strikes('open-failed'))
      return { kind: 'failed', reason: this.#random.pick(['unavailable', 'timeout', 'limited', 'protocol', 'exited']) };
    if (this.#weather.strikes('open-illegal')) return { kind: 'failed', reason: 'contract' };
    this.#lists++;
    return { kind: 'open', tools: { count: this.#random.between(1, 9), digest: `t${String(this.#lists)}` } };
  }

  #read(account: string): Reply {
    const history = this.#server.history(account);
    const back = this.#weather.strikes('reply-lagging') ? this.#random.between(1, 2) : 0;
    return this.#garble(history[Math.max(0, history.length - 1 - back)]!);
  }

  #garble(truth: Truth): Reply {
    const entries: Record<string, Snapshot['entries'][string]> = {};
    const torn = this.#weather.strikes('reply-torn') ? this.#random.below(truth.lines.size) : -1;
    const garbled = this.#weather.strikes('entry-unreadable') ? this.#random.below(truth.lines.size) : -1;
    const complete = !this.#weather.strikes('reply-truncated');
    let index = 0;
    for (const [connector, line] of truth.lines) {
      const missing = !complete && this.#random.chance(0.5);
      if (!missing)
        entries[connector] = index === garbled ? 'unreadable' : entryOf(index === torn ? other(line) : line);
      index++;
    }
    if (this.#weather.strikes('entry-unknown'))
      entries['unheard-of'] = entryOf({ state: 'connected', version: 1, hash: 'h0' });
    const { serverEpoch, revision } = truth;
    return {
      serverEpoch: serverEpoch === null ? null : uint64(serverEpoch),
      revision: uint64(revision),
      complete,
      entries,
    };
  }

  /** Told to stop, a long wait ends soon; what it then answers is for `answer` to say. */
  #answer<T>(ms: number, signal: AbortSignal, answer: () => T): Promise<T> {
    return new Promise((resolve) => {
      const happen = (): void => {
        resolve(answer());
      };
      const cancel = this.#clock.in(ms, happen);
      if (ms < SHORT_MS) return;
      const stop = (): void => {
        cancel();
        this.#clock.in(this.#random.between(1, 50), happen);
      };
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}

/** A line as it never was: the other state, or another version. */
const other = (line: Line): Line =>
  line.version % 2 === 0
    ? { ...line, version: line.version + 1 }
    : { ...line, state: line.state === 'connected' ? 'disconnected' : 'connected' };

const entryOf = ({ state, version, hash }: Line): Exclude<Snapshot['entries'][string], 'unreadable'> => ({
  state,
  connectionVersion: uint64(version),
  connectionIdHash: hash,
  releaseVersion: null,
});
