/** When a state is put by, and how a start goes on from it. What can't be kept or read is no loss: the log says it all again. */
import type { EventLog } from '../events/index.ts';
import { checkpointKey, decodeCheckpoint, encodeCheckpoint, type Restored } from './checkpoint.ts';
import { evolve } from './evolve.ts';
import { StateHasher } from './hash.ts';
import { initialState, type State } from './state.ts';

/** A state is put by after so many events, … */
const EVERY_EVENTS = 10_000;
/** … or, of many routes, so many for each of them: writing them all must not cost more than folding a few events of each. */
const EVENTS_PER_ROUTE = 20;
/** At the end of a process fewer are worth it, as nobody waits then. */
const WORTH_KEEPING = 1_000;

/** The state that the log says: the newest one put by and what came after, or all of it folded. *Errors*: those of reading the log. */
export function restore(log: EventLog): Restored & { readonly keeper: Keeper } {
  const restored = newestOf(log);
  if (restored === undefined) return { ...foldAll(log), keeper: new Keeper(log, 0) };
  const keptAt = restored.state.head.position;
  for (const event of log.read(keptAt + 1)) restored.hasher.note(evolve(restored.state, event));
  return { ...restored, keeper: new Keeper(log, keptAt) };
}

function newestOf(log: EventLog): Restored | undefined {
  const kept = log.loadCheckpoint?.(checkpointKey);
  if (kept === undefined) return undefined;
  try {
    const restored = decodeCheckpoint(kept.bytes);
    return restored.state.head.position === kept.position ? restored : undefined;
  } catch {
    // Whatever is wrong with it, folding is right.
    return undefined;
  }
}

function foldAll(log: EventLog): Restored {
  const state = initialState();
  for (const event of log.read()) evolve(state, event);
  return { state, hasher: new StateHasher(state) };
}

/** Puts a state by from time to time. */
export class Keeper {
  readonly #log: EventLog;
  #keptAt: number;

  /** `keptAt` is the position of the newest state that is put by; 0: none. */
  constructor(log: EventLog, keptAt: number) {
    this.#log = log;
    this.#keptAt = keptAt;
  }

  /** To be asked after a turn, when everything that anybody waits for is done and everything is written. */
  afterTurn(state: State, hasher: StateHasher): void {
    if (state.head.position - this.#keptAt < EVERY_EVENTS) return;
    if (state.head.position - this.#keptAt >= EVENTS_PER_ROUTE * routeCount(state)) this.#keep(state, hasher);
  }

  /** To be asked at the end of a process. */
  atEnd(state: State, hasher: StateHasher): void {
    if (state.head.position - this.#keptAt >= WORTH_KEEPING) this.#keep(state, hasher);
  }

  #keep(state: State, hasher: StateHasher): void {
    const { position } = state.head;
    this.#keptAt = position;
    if (this.#log.head !== position) return;
    try {
      this.#log.saveCheckpoint?.({ position, key: checkpointKey, bytes: encodeCheckpoint(state, hasher) });
    } catch {
      // A full disk says so at the next append, where it matters; a state that can't be written is folded again.
    }
  }
}

function routeCount(state: State): number {
  let count = 0;
  for (const routes of state.routes.values()) count += routes.size;
  return count;
}
