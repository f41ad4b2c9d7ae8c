/**
 * Every bound of the words on the wire, in one place, each with its unit in its name. DESIGN 11; tests read these numbers
 * and nothing else in the project repeats one of them.
 */
export const limits = {
  requestBytes: 1_048_576,
  /** One result, decoded: a JSON body, an SSE event and a line of a stdio server are measured alike. */
  resultBytes: 8_388_608,
  /** All events of one answer together: progress may be long, but not endless. */
  streamBytes: 16_777_216,
  /** All pages of one list together. */
  listBytes: 16_777_216,
  errorBytes: 1_048_576,
  snapshotBytes: 4_194_304,
  hintFrameBytes: 65_536,
  jsonDepth: 64,
  schemaDepth: 32,
  idChars: 256,
  cursorChars: 8_192,
  /** The cursor of a list that many connectors make holds one of each of them. */
  joinedCursorChars: 524_288,
  tools: 512,
  pages: 64,
  upstreamNameChars: 128,
  agentNameChars: 64,
  headers: 100,
  headerBytes: 16_384,
  /** One `Mcp-Param-*` value, encoded: a header that no server would take is refused before it is sent. */
  parameterBytes: 8_192,
  secretBytes: 16_384,
  agentConcurrency: 64,
  connectorConcurrency: 16,
  connectMs: 5_000,
  firstByteMs: 15_000,
  gapMs: 30_000,
  totalMs: 120_000,
  snapshotMs: 10_000,
  /** No timer is ever longer: from 2^31 ms on, Node fires at once. */
  delayMs: 3_600_000,
  minRetryMs: 1_000,
} as const;

export type Limits = { readonly [K in keyof typeof limits]: number };

/** A delay that a timer may be given: between 0 and one hour, never NaN. */
export function clampDelay(ms: number): number {
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), limits.delayMs) : limits.delayMs;
}
