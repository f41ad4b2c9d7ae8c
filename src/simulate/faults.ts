/**
 * Everything that can go wrong, by name. Each class has a switch and a counter: a run set in which a class never happened has not
 * tested it, and fails. The list follows the faults known from the field (transport, gateway, account, process, storage, device).
 */
import type { Random } from './random.ts';

interface FaultClass {
  readonly text: string;
  /** Chance wherever it could happen, before the weather of the run. */
  readonly chance: number;
}

const fault = (chance: number, text: string): FaultClass => ({ chance, text });

export const faults = {
  // Transport: the channel of hints.
  'hint-lost': fault(0.15, 'a hint never arrives'),
  'hint-repeated': fault(0.1, 'a hint arrives twice'),
  'hint-late': fault(0.05, 'a hint arrives after the next poll'),
  'hint-unnumbered': fault(0.15, 'a hint names no revision'),
  'hint-overtaken': fault(0.15, 'a hint is overtaken by a later one'),
  'hint-foreign': fault(1, 'a hint for an account that is not active'),
  'hint-old-channel': fault(0.5, 'a hint of a channel that is closed by now'),
  'hint-bogus': fault(1, 'a hint names a revision that will never be'),
  'channel-flap': fault(1, 'the channel closes and opens several times at once'),
  // Transport: snapshot replies.
  'reply-failed': fault(0.06, 'a snapshot request fails'),
  'reply-late': fault(0.08, 'a snapshot reply takes seconds'),
  'reply-repeated': fault(1, 'a snapshot reply is handed in twice'),
  'reply-old-epoch': fault(0.5, 'a snapshot reply comes home after its login has ended'),
  'reply-truncated': fault(0.04, 'a snapshot reply is not complete'),
  'reply-lagging': fault(0.06, 'a snapshot comes from a replica that lags'),
  'reply-torn': fault(0.03, 'a snapshot has the same revision and another content'),
  'entry-unreadable': fault(0.04, 'an entry of a snapshot is garbled or has an unknown state'),
  'entry-unknown': fault(0.05, 'a snapshot names a connector that is not installed'),
  // The server itself.
  'version-back': fault(1, 'a connectionVersion goes back'),
  'server-restored': fault(1, 'the server is restored to an older revision and says so'),
  'server-restored-unsaid': fault(1, 'the server is restored to an older revision without a word'),
  'server-accepted': fault(1, 'an operator accepts a server whose revision went back'),
  // The gateway.
  'call-rejected': fault(1, 'a call is refused for lack of authorization'),
  'call-rejected-falsely': fault(0.05, 'a call is refused although the server says connected'),
  'call-rejected-late': fault(1, 'a refusal arrives when another generation is wanted'),
  'call-failed': fault(0.1, 'a call fails for another reason, which is nothing to learn'),
  'open-rejected': fault(1, 'an opening is refused for lack of authorization'),
  'open-rejected-falsely': fault(0.03, 'an opening is refused although the server says connected'),
  'open-failed': fault(0.08, 'an opening fails'),
  'open-illegal': fault(0.03, 'what is served breaks the contract'),
  'open-hangs': fault(0.04, 'an opening never answers'),
  'open-late': fault(0.1, 'an opening succeeds long after the server was asked'),
  'open-after-revoke': fault(1, 'an opening succeeds after its connection was revoked'),
  'open-unstoppable': fault(0.3, 'an opening succeeds although it was told to stop'),
  // The account.
  'switch-in-fetch': fault(1, 'the account is left while a snapshot is on its way'),
  'switch-in-open': fault(1, 'the account is left while a route is being opened'),
  'switch-in-close': fault(1, 'the account is left while a route is being closed'),
  'signed-out': fault(1, 'the account is signed out'),
  'switch-there-and-back': fault(1, 'another account and back within one round trip'),
  'switch-twice-at-once': fault(1, 'two switches in one turn'),
  'same-account-anew': fault(1, 'the same account begins a new login'),
  // The user's own disconnecting.
  'drop-failed': fault(0.15, 'disconnecting fails'),
  'drop-answer-lost': fault(0.7, 'the answer to a disconnect is lost with its process or login'),
  'drop-unnumbered': fault(0.3, 'the answer to a disconnect names no revision'),
  // The process and its clock.
  'crash-after-withdraw': fault(0.01, 'a kill between withdrawing and writing'),
  'crash-before-write': fault(0.004, 'a kill before the write'),
  'crash-after-write': fault(0.004, 'a kill between writing and publishing'),
  'crash-after-publish': fault(0.02, 'a kill between publishing and performing'),
  'crash-in-effect': fault(1, 'a kill while effects are under way'),
  'crash-in-recovery': fault(0.15, 'a kill while the log is being read'),
  'second-writer': fault(1, 'another process writes to the log'),
  'performer-throws': fault(0.01, 'the performer of an effect breaks its promise'),
  'listener-reenters': fault(0.02, 'a listener of the table hands in a fact'),
  'clock-back': fault(1, 'the wall clock is set back'),
  'clock-ahead': fault(1, 'the wall clock is set ahead by hours'),
  'timer-late': fault(0.05, 'a timer fires minutes late'),
  'timer-early': fault(0.05, 'a timer fires early'),
  sleep: fault(1, 'the machine sleeps for eight hours'),
  // The disk.
  'disk-full': fault(1, 'the disk is full for a while'),
  'disk-error': fault(0.01, 'one write fails'),
  // The device.
  'child-died': fault(1, 'the process behind a route ends'),
  'close-slow': fault(0.15, 'a closing takes a minute'),
  'release-there-and-back': fault(1, 'a release is replaced and put back while its first opening is under way'),
  'release-incompatible': fault(1, 'a release that this host cannot run'),
} as const satisfies Readonly<Record<string, FaultClass>>;

export type Fault = keyof typeof faults;
export const faultNames: readonly Fault[] = Object.keys(faults) as Fault[];

/** How often each class is tried in one run: some runs must be calm in one respect and stormy in another. */
const strengths: readonly number[] = [0, 0.3, 1, 1, 3];

/** The faults of one run: which are on, how strong, and how often each has happened. */
export class Weather {
  readonly #random: Random;
  readonly #chances = new Map<Fault, number>();
  readonly #counts = new Map<Fault, number>();
  #calm = false;

  /** `allowed` are the switches that are on. */
  constructor(random: Random, allowed: readonly Fault[]) {
    this.#random = random;
    const on = new Set(allowed);
    for (const name of faultNames) {
      const strength = random.pick(strengths);
      if (on.has(name)) this.#chances.set(name, Math.min(1, faults[name].chance * strength));
    }
  }

  /** Whether the fault happens at a place where it could. Counts when it does. */
  strikes(name: Fault): boolean {
    const struck = this.#random.chance(this.#chances.get(name) ?? 0) && !this.#calm;
    if (struck) this.count(name);
    return struck;
  }

  /** Whether the fault may happen here at all; nothing is counted. */
  allows(name: Fault): boolean {
    return !this.#calm && (this.#chances.get(name) ?? 0) > 0;
  }

  count(name: Fault): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** From here on nothing goes wrong any more. */
  clear(): void {
    this.#calm = true;
  }
  get calm(): boolean {
    return this.#calm;
  }
  get counts(): ReadonlyMap<Fault, number> {
    return this.#counts;
  }
}
