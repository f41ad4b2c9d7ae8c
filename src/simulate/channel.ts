/** The WebSocket of hints: what the server has to say of a change, and everything that can happen to it on its way. */
import { uint64, type Fact } from '../events/index.ts';
import type { Clock } from './clock.ts';
import type { Weather } from './faults.ts';
import type { Random } from './random.ts';

export interface ChannelPort {
  readonly random: Random;
  readonly weather: Weather;
  readonly clock: Clock;
  /** Whom the daemon listens for. */
  readonly expected: string | null;
  accept(fact: Fact): void;
}

/** Longer than a poll takes to come round. */
const LATE_MS = 400_000;

export class Channel {
  readonly #port: ChannelPort;
  #incarnation = 0;
  #open = false;

  constructor(port: ChannelPort) {
    this.#port = port;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  open(): void {
    this.#incarnation++;
    this.#open = true;
    this.#port.accept({ type: 'hints.opened', data: { incarnation: this.#name } });
  }

  lose(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#port.accept({ type: 'hints.lost', data: { incarnation: this.#name, reason: 'closed' } });
  }

  /** The server tells of a change, once it is made. */
  announce(account: string, connector: string | null, revision: number): void {
    const { weather, random } = this.#port;
    if (!this.#open || weather.strikes('hint-lost')) return;
    const named = weather.strikes('hint-unnumbered') ? null : revision;
    const late = weather.strikes('hint-late') ? LATE_MS : weather.strikes('hint-overtaken') ? 2_000 : 0;
    this.#send(account, connector, named, random.between(1, 300) + late);
    if (weather.strikes('hint-repeated')) this.#send(account, connector, named, random.between(1, 3_000));
  }

  #send(account: string, connector: string | null, revision: number | null, delayMs: number): void {
    const { clock, weather } = this.#port;
    const incarnation = this.#name;
    clock.in(delayMs, () => {
      if (incarnation !== this.#name && !weather.strikes('hint-old-channel')) return;
      if (account !== this.#port.expected && !weather.strikes('hint-foreign')) return;
      const said = revision === null ? null : uint64(revision);
      this.#port.accept({ type: 'hint.received', data: { account, revision: said, connector, incarnation, count: 1 } });
    });
  }

  get #name(): string {
    return `channel-${String(this.#incarnation)}`;
  }
}
