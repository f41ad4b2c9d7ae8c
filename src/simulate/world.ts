/**
 * The world around the shipped core: one seed, one thread, one clock. A server that is truthful, a network that is not reliable, a
 * device, people who switch accounts, and a process that dies. What happens next is drawn; what must hold is watched.
 */
import type { Fact } from '../events/index.ts';
import { routeKey } from '../reconcile/index.ts';
import { Channel } from './channel.ts';
import { Clock } from './clock.ts';
import { firstItems, installedFact, isExempt, isServable, needsConnection, type Item } from './device.ts';
import { Disk } from './disk.ts';
import { faultNames, Weather, type Fault } from './faults.ts';
import { plainHost, type MakeHost } from './host.ts';
import type { Violation } from './law.ts';
import { Life, type Moment, type Surroundings } from './life.ts';
import { Network } from './outside.ts';
import { Random } from './random.ts';
import { Server } from './server.ts';

export interface WorldOptions {
  readonly seed: number;
  /** The faults that are switched on; all of them when absent. */
  readonly faults?: readonly Fault[] | undefined;
  /** Whether there is a channel of hints at all. */
  readonly hints?: boolean | undefined;
  /** A connector whose opening never answers. */
  readonly stuck?: string | null | undefined;
  readonly host?: MakeHost | undefined;
}

export const ACCOUNTS: readonly string[] = ['ann', 'bob'];
const POLL_MS = 300_000;
/** More than the promises between an answer from outside and the engine's next effect. */
const SETTLE_TURNS = 24;

export class World implements Surroundings {
  readonly options: WorldOptions;
  readonly random: Random;
  readonly weather: Weather;
  readonly clock = new Clock();
  readonly disk: Disk;
  readonly server: Server;
  readonly network: Network;
  readonly channel: Channel;
  readonly items: readonly Item[] = firstItems();
  readonly moments: Moment[] = [];
  readonly violations: Violation[] = [];
  /** Whom the person wants to be active: kept by the host, reported again after a start. */
  login: string | null = null;
  /** Whom the process that lives now has been told to make active. */
  expected: string | null = null;
  life: Life;
  #ids = 0;
  #boots = 0;
  #polls = 0;
  #cancelPoll: () => void = () => undefined;
  #cancelStart: (() => void) | null = null;

  constructor(options: WorldOptions) {
    this.options = options;
    this.random = new Random(options.seed);
    this.weather = new Weather(this.random, options.faults ?? faultNames);
    this.disk = new Disk(this.weather);
    this.server = new Server(ACCOUNTS, this.random.chance(0.5));
    const asks = (connector: string): boolean =>
      this.items.some((of) => of.connector === connector && needsConnection(of));
    this.network = new Network(this, asks, options.stuck ?? null);
    this.channel = new Channel(this);
    this.life = this.#beget();
    this.#settleIn();
    this.#report();
  }

  /** Most worlds begin in the middle: somebody is signed in and has connected something. */
  #settleIn(): void {
    for (const account of ACCOUNTS)
      for (const of of this.items.filter(needsConnection))
        if (this.random.chance(0.7)) this.server.connect(account, of.connector);
    this.login = this.random.chance(0.85) ? this.random.pick(ACCOUNTS) : null;
  }

  newId(): string {
    this.#ids++;
    return `s${String(this.options.seed)}-${String(this.#ids)}`;
  }

  accept(facts: Fact | readonly Fact[]): void {
    this.life.accept(facts);
  }

  /** How many polls have come round: the ticks by which a calm world has to converge. */
  get polls(): number {
    return this.#polls;
  }
  get isUp(): boolean {
    return this.life.alive;
  }

  /** Makes an account, or nobody, the active one. Several at once are one turn. */
  use(...accounts: readonly (string | null)[]): void {
    this.login = accounts.at(-1) ?? null;
    const { engine } = this.life;
    if (engine === null) return;
    this.expected = this.login;
    const first = engine.nextEpoch();
    this.accept(
      accounts.map((account, index): Fact => {
        const epoch = first + index;
        return account === null
          ? { type: 'account.cleared', data: { epoch } }
          : { type: 'account.activated', data: { account, epoch } };
      }),
    );
  }

  /** Lets one thing arrive. `false`: nothing is on its way. */
  arrive(): boolean {
    const happen = this.clock.next();
    happen?.();
    return happen !== undefined;
  }

  /** Lets every promise come home, and starts anew what was killed. */
  async settle(): Promise<void> {
    for (let i = 0; i < SETTLE_TURNS; i++) await Promise.resolve();
    this.life.look();
    if (!this.life.alive && this.#cancelStart === null) this.#mourn();
  }

  /** From here on nothing goes wrong. The disk takes writes, and what hangs is let go by its own time limits. */
  calmDown(): void {
    this.weather.clear();
    this.disk.full = false;
  }

  /** Route keys that must be shown once the world is calm: connected ∩ installed ∩ enabled ∩ compatible. */
  truth(): string[] {
    const shown: string[] = [];
    for (const of of this.items) {
      if (!isServable(of) || of.connector === this.options.stuck) continue;
      if (isExempt(of)) shown.push(routeKey(null, of.connector));
      else if (this.login !== null && (!needsConnection(of) || this.server.isConnected(this.login, of.connector)))
        shown.push(routeKey(this.login, of.connector));
    }
    return shown.sort();
  }

  #beget(): Life {
    this.#boots++;
    this.expected = null;
    const host = (this.options.host ?? plainHost)(this.network);
    return new Life(this, host, `boot-${String(this.#boots)}`);
  }

  /** A start: the device is reported again, the login restored, the channel opened, in any order and piece by piece. */
  #report(): void {
    const { random, clock } = this;
    const soon = (happen: () => void): void => {
      clock.in(random.between(0, 40), happen);
    };
    if (random.chance(0.5)) soon(() => this.accept(this.items.filter(({ present }) => present).map(installedFact)));
    else for (const { connector } of this.items) soon(() => this.reportItem(connector));
    if (this.login !== null) soon(() => this.use(this.login));
    if (this.options.hints !== false) soon(() => this.channel.open());
    this.#poll();
  }

  /** Tells the process what the device has of a connector now. */
  reportItem(connector: string): void {
    const of = this.items.find((one) => one.connector === connector);
    if (of?.present === true) this.accept(installedFact(of));
    else this.accept({ type: 'connector.removed', data: { connector } });
  }

  #poll(): void {
    this.#cancelPoll();
    const { life } = this;
    this.#cancelPoll = this.clock.in(POLL_MS + this.random.between(0, 30_000), () => {
      this.#polls++;
      if (life === this.life) this.accept({ type: 'clock.ticked', data: { reason: 'poll' } });
      this.#poll();
    });
  }

  /** The machine wakes: one poll follows, and the channel is replaced. */
  wake(): void {
    this.clock.in(this.random.between(0, 5_000), () => {
      if (this.channel.isOpen) this.channel.lose();
      if (this.options.hints !== false) this.channel.open();
      this.accept({ type: 'clock.ticked', data: { reason: 'poll' } });
    });
  }

  #mourn(): void {
    this.life.bury();
    this.channel.lose();
    this.#cancelPoll();
    this.#cancelStart = this.clock.in(this.random.between(0, 5_000), () => {
      this.#cancelStart = null;
      this.life = this.#beget();
      if (this.life.alive) this.#report();
    });
  }
}
