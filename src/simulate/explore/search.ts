/**
 * Breadth first over every state of a small world: each move is made on the shipped core, judged, and taken back. Of a state that was
 * met only its hash is kept; the states of one layer are kept whole until they have been expanded. Afterwards the way back is
 * searched: from every state calm moves alone must lead to a state in which the world has converged.
 */
import { isNoise } from '../../reconcile/index.ts';
import type { Violation } from '../law.ts';
import { Encoder } from './encode.ts';
import { judgeMove, judgeState, hasConverged } from './judge.ts';
import { movesOf } from './moves.ts';
import { Numbers, Seen } from './seen.ts';
import type { SmallWorld } from './small.ts';
import { Stage, type Saved } from './stage.ts';

export interface Explored {
  readonly states: number;
  readonly edges: number;
  readonly depth: number;
  /** States or moves that broke a law, at most {@link MAX_FOUND} of them. */
  readonly unsafe: readonly Found[];
  /** States from which a calm world never converges. */
  readonly stuck: number;
  /** The first of them, by the shortest way there. */
  readonly firstStuck: readonly number[] | null;
  readonly converged: number;
  /** False: the search was ended by its limit. */
  readonly complete: boolean;
}

/** A law that was broken, and the shortest way there: the places of the moves in the list of moves of each state. */
export interface Found extends Violation {
  readonly way: readonly number[];
}

export interface SearchOptions {
  /** Gives up beyond this many states. */
  readonly maxStates?: number | undefined;
  /** Told now and then; for a progress line. */
  readonly onProgress?: ((states: number, depth: number) => void) | undefined;
}

const MAX_FOUND = 10;
const PROGRESS_EVERY = 100_000;

/** States at one distance from the beginning, whole, with the parts of their hashes. */
class Layer {
  readonly states: Saved[] = [];
  readonly parts = new Numbers();
}

export class Search {
  readonly #stage: Stage;
  readonly #encoder: Encoder;
  readonly #options: SearchOptions;
  readonly #seen = new Seen();
  readonly #parents = new Numbers();
  readonly #places = new Numbers();
  /** Calm moves: where those of each state begin, and where they lead. */
  readonly #calmFrom = new Numbers();
  readonly #calmTo = new Numbers();
  readonly #converged = new Numbers();
  readonly #unsafe: Found[] = [];
  readonly #hash = new Uint32Array(2);
  #edges = 0;

  constructor(world: SmallWorld, options: SearchOptions = {}) {
    this.#stage = new Stage(world);
    this.#encoder = new Encoder(this.#stage);
    this.#options = options;
  }

  run(): Explored {
    const { maxStates = Infinity } = this.#options;
    let depth = 0;
    let layer = new Layer();
    this.#meet(0, 0, layer, null);
    let first = 0;
    while (layer.states.length > 0 && this.#seen.size < maxStates && this.#unsafe.length < MAX_FOUND) {
      const next = new Layer();
      for (let offset = 0; offset < layer.states.length; offset++) {
        this.#expand(layer, offset, first, next);
        if ((first + offset) % PROGRESS_EVERY === 0) this.#options.onProgress?.(this.#seen.size, depth);
      }
      first += layer.states.length;
      layer = next;
      if (layer.states.length > 0) depth++;
    }
    return this.#conclude(depth, layer.states.length === 0);
  }

  #expand({ states, parts }: Layer, offset: number, first: number, next: Layer): void {
    const stage = this.#stage;
    const saved = states[offset]!;
    const index = first + offset;
    stage.load(saved);
    this.#encoder.parts.from(saved, parts, offset);
    this.#calmFrom.push(this.#calmTo.length);
    movesOf(stage).forEach((move, place) => {
      stage.apply(move);
      if (!this.#isSilent()) {
        this.#edges++;
        const broken = judgeMove(stage, saved);
        if (broken !== null) this.#find(broken, [...this.#wayTo(index), place]);
        const met = this.#meet(index, place, next, saved);
        if (move.calm) this.#calmTo.push(met);
      }
      stage.takeBack();
    });
  }

  /** A tick or hint that changed nothing is no row, and no move. */
  #isSilent(): boolean {
    const { turns, events, state } = this.#stage;
    return events.length === 1 && turns[0]?.changed === false && isNoise(state, events[0]!);
  }

  /** The number of the state on the stage; a new one is judged and kept for the next layer. */
  #meet(from: number, place: number, next: Layer, before: Saved | null): number {
    const stage = this.#stage;
    this.#encoder.hash(this.#hash);
    const added = this.#seen.add(this.#hash[0]!, this.#hash[1]!);
    if (added >= 0) return added;
    const index = -1 - added;
    this.#parents.push(from);
    this.#places.push(place);
    const broken = judgeState(stage, before);
    if (broken !== null) this.#find(broken, this.#wayTo(index));
    if (hasConverged(stage)) this.#converged.push(index);
    next.states.push(stage.save());
    this.#encoder.parts.keep(next.parts);
    return index;
  }

  #find([law, text]: readonly [Violation['law'], string], way: readonly number[]): void {
    if (this.#unsafe.length < MAX_FOUND)
      this.#unsafe.push({ law, text, position: this.#stage.state.head.position, way });
  }

  #wayTo(index: number): readonly number[] {
    const way: number[] = [];
    for (let at = index; at > 0; at = this.#parents.at(at)) way.push(this.#places.at(at));
    return way.reverse();
  }

  #conclude(depth: number, complete: boolean): Explored {
    const found = { states: this.#seen.size, edges: this.#edges, depth, unsafe: this.#unsafe, complete };
    const reached = complete ? this.#comeBack() : null;
    let stuck = 0;
    let firstStuck: number | null = null;
    for (let index = 0; reached !== null && index < reached.length; index++) {
      if (reached[index] === 1) continue;
      firstStuck ??= index;
      stuck++;
    }
    const way = firstStuck === null ? null : this.#wayTo(firstStuck);
    return { ...found, stuck, firstStuck: way, converged: this.#converged.length };
  }

  /** 1 for each state from which calm moves lead to a converged one: a search against the arrows. */
  #comeBack(): Uint8Array {
    const size = this.#seen.size;
    const { starts, sources } = this.#reversed(size);
    const reached = new Uint8Array(size);
    const queue = new Uint32Array(size);
    let length = 0;
    const reach = (index: number): void => {
      if (reached[index] === 1) return;
      reached[index] = 1;
      queue[length++] = index;
    };
    for (let i = 0; i < this.#converged.length; i++) reach(this.#converged.at(i));
    for (let head = 0; head < length; head++)
      for (let i = starts[queue[head]!]!; i < starts[queue[head]! + 1]!; i++) reach(sources[i]!);
    return reached;
  }

  #reversed(size: number): { readonly starts: Uint32Array; readonly sources: Uint32Array } {
    const starts = new Uint32Array(size + 1);
    for (let i = 0; i < this.#calmTo.length; i++) starts[this.#calmTo.at(i) + 1]!++;
    for (let i = 0; i < size; i++) starts[i + 1]! += starts[i]!;
    const free = starts.slice();
    const sources = new Uint32Array(this.#calmTo.length);
    for (let from = 0; from < size; from++) {
      const end = from + 1 < this.#calmFrom.length ? this.#calmFrom.at(from + 1) : this.#calmTo.length;
      for (let i = this.#calmFrom.at(from); i < end; i++) sources[free[this.#calmTo.at(i)]!++] = from;
    }
    return { starts, sources };
  }
}
