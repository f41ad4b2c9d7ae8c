/**
 * The one place where the room opens an HTTP connection. One pool an origin; redirects are never followed, because what follows
 * one carries a cookie to whoever it names (reliability C7); nothing compressed is asked for, so that bytes are what is counted.
 */
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { limits } from '../protocol/index.ts';

/** Connections by origin. */
export interface Pools {
  /** The pool of an URL's origin. */
  for(url: URL): Dispatcher;
  close(): Promise<void>;
}

export function openPools(): Pools {
  const pools = new Map<string, Pool>();
  return {
    for: (url) => {
      const known = pools.get(url.origin);
      if (known !== undefined) return known;
      const pool = newPool(url.origin);
      pools.set(url.origin, pool);
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
