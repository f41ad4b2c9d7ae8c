/**
 * When the state would next change by itself. An index over the records, derived from them and from nothing else: it is not part
 * of the state hash, and losing it costs a scan. The heap serves a daemon with many routes; the scan serves an explorer that takes
 * every turn back.
 */
import { accountDeadline, routeDeadline } from '../machines/index.ts';
import type { State } from './state.ts';

/** An account (`connector` null) or a route whose time has come. */
export interface Alarm {
  readonly atMs: number;
  readonly account: string | null;
  readonly connector: string | null;
}

export interface Deadlines {
  /** Notes a record's deadline, once for each change of it: noted at every touch, one that is far off would be held a thousand times. */
  note(alarm: Alarm): void;
  /** Takes every alarm that is due at `nowMs`, each record once. `state` still stands at the instant before. */
  take(state: State, nowMs: number): readonly Alarm[];
  /** The earliest alarm that still holds, in ms since epoch. */
  next(state: State): number | null;
}

/** The deadline that a record has now. */
export function currentDeadline(state: State, account: string | null, connector: string | null): number | null {
  if (connector === null) {
    const record = state.accounts.get(account ?? '');
    return record === undefined ? null : accountDeadline(record.machine.context, state.head.now);
  }
  const route = state.routes.get(account ?? '')?.get(connector);
  return route === undefined ? null : routeDeadline(route.machine.context);
}

const NONE: readonly Alarm[] = [];

/** Binary heap with lazy deletion: an alarm holds while its record still has that deadline. */
export class HeapDeadlines implements Deadlines {
  #heap: Alarm[] = [];

  note(alarm: Alarm): void {
    this.#heap.push(alarm);
    this.#up(this.#heap.length - 1);
  }

  take(state: State, nowMs: number): readonly Alarm[] {
    let top = this.#top(state);
    if (top === undefined || top.atMs > nowMs) return NONE;
    const due: Alarm[] = [];
    for (; top !== undefined && top.atMs <= nowMs; top = this.#top(state)) {
      this.#pop();
      const { account, connector } = top;
      if (!due.some((alarm) => alarm.account === account && alarm.connector === connector)) due.push(top);
    }
    return due;
  }

  next(state: State): number | null {
    return this.#top(state)?.atMs ?? null;
  }

  /** Drops what no longer holds from the top, so that the top is true. */
  #top(state: State): Alarm | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (currentDeadline(state, top.account, top.connector) === top.atMs) return top;
      this.#pop();
    }
    return undefined;
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#down(0);
  }

  #up(from: number): void {
    let index = from;
    while (index > 0 && this.#swapIfEarlier(index, (index - 1) >> 1)) index = (index - 1) >> 1;
  }

  #down(from: number): void {
    for (let index = from; ;) {
      const left = 2 * index + 1;
      const right = left + 1;
      const child = this.#at(right) < this.#at(left) ? right : left;
      if (child >= this.#heap.length || !this.#swapIfEarlier(child, index)) return;
      index = child;
    }
  }

  #at(index: number): number {
    return this.#heap[index]?.atMs ?? Infinity;
  }

  #swapIfEarlier(child: number, parent: number): boolean {
    const [a, b] = [this.#heap[child], this.#heap[parent]];
    if (a === undefined || b === undefined || a.atMs >= b.atMs) return false;
    this.#heap[child] = b;
    this.#heap[parent] = a;
    return true;
  }
}

/** Looks at every record each time. Holds nothing, so nothing of it has to be taken back. */
export class ScanDeadlines implements Deadlines {
  note(): void {
    // The records themselves are the index.
  }

  take(state: State, nowMs: number): readonly Alarm[] {
    const due: Alarm[] = [];
    scan(state, (atMs, account, connector) => {
      if (atMs <= nowMs) due.push({ atMs, account, connector });
    });
    return due;
  }

  next(state: State): number | null {
    let next = Infinity;
    scan(state, (atMs) => {
      if (atMs < next) next = atMs;
    });
    return next === Infinity ? null : next;
  }
}

function scan(state: State, visit: (atMs: number, account: string | null, connector: string | null) => void): void {
  for (const { account, machine } of state.accounts.values()) {
    const atMs = accountDeadline(machine.context, state.head.now);
    if (atMs !== null) visit(atMs, account, null);
  }
  for (const ofAccount of state.routes.values())
    for (const { account, connector, machine } of ofAccount.values()) {
      const atMs = routeDeadline(machine.context);
      if (atMs !== null) visit(atMs, account, connector);
    }
}
