/**
 * Where time, identity and waiting come from. The core is handed an Edge and never looks at a clock itself; a simulation hands
 * in its own. DESIGN 5.1.
 */
export interface Edge {
  /** Ms since epoch. Never goes back, not even when the wall clock does. */
  now(): number;
  /** An id that no other event has, without spaces, at most 64 characters. */
  newId(): string;
  /** Calls `fire` once, at most an hour from now even if `ms` says more; returns what cancels it. May fire early, never twice. */
  wake(ms: number, fire: () => void): () => void;
}
