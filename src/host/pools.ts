/**
 * The one place where the room opens an HTTP connection. One pool for each connector and one for the control plane, also where all
 * of them are at one origin: in a pool that they share, calls that hang would delay every other connector (law L19) and the snapshot
 * that withdraws. Redirects are never followed, because what follows one carries a cookie to whoever it names (reliability C7);
 * nothing compressed is asked for, so that bytes are what is counted.
 */
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { limits } from '../protocol/index.ts';

/** Connections by origin and by what they are for. */
export interface Pools {
  /** The pool of an URL's origin for one purpose. */
  for(url: URL, purpose: string): Dispatcher;
  close(): Promise<void>;
}

export function openPools(): Pools {
  const pools = new Map<string, Pool>();
  return {
    for: (url, purpose) => {
      const key = `${url.origin} ${purpose}`;
      const known = pools.get(key);
      if (known !== undefined) return known;
      const pool = newPool(url.origin);
      pools.set(key, pool);
      return pool;
    },
    close: async () => {
      const open = [...pools.values()];
      pools.clear();
      await Promise.all(open.map((pool) => pool.destroy()));
    },
  };
}

function newPool(origin: string): Pool {
  return new Pool(origin, {
    connections: limits.agentConcurrency,
    pipelining: 1,
    connect: { timeout: limits.connectMs },
    headersTimeout: limits.firstByteMs,
    bodyTimeout: limits.gapMs,
    maxHeaderSize: limits.headerBytes,
    keepAliveTimeout: 4_000,
  });
}

/** A body larger than it may be. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** Reads a body up to a cap. Throws {@link BodyTooLarge} and what the body throws; the rest is then not read. */
export async function readBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new BodyTooLarge(`a body of more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The address of a path below a base. The base's own path stays, whatever the path says. */
export function below(base: string, path: string): URL {
  return new URL(base.replace(/\/+$/, '') + path);
}
