/** A loopback HTTP listener around a hono app: bounded before a handler sees anything, and gone when it is closed. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';

export type Fetch = (request: Request, env?: unknown) => Response | Promise<Response>;

export interface Listener {
  readonly server: Server;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** An address that can't be listened on, and what to write instead. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** `127.0.0.1:0` → host and port. Only loopback: cookies, tokens and secrets go over this, and there is no TLS here. */
export const loopbackAddress = (address: string): { readonly host: string; readonly port: number } => {
  const found = /^(127\.0\.0\.1|\[::1\]):(\d{1,5})$/.exec(address);
  const port = Number(found?.[2]);
  if (found?.[1] !== undefined && port <= 65_535) return { host: found[1].replace(/[[\]]/g, ''), port };
  throw new AddressRefused(
    `${address} is no loopback address: write 127.0.0.1:PORT and put a TLS proxy in front of it`,
  );
};

const bounds = { maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 5_000 };

/** Listens on a loopback address; port 0 takes a free one. */
export const listen = async (address: string, fetch: Fetch): Promise<Listener> => {
  const { host, port } = loopbackAddress(address);
  const answer = getRequestListener(fetch);
  const server = createServer(bounds, (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.maxHeadersCount = 100;
  server.maxConnections = 1024;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = (server.address() as AddressInfo).port;
  return { server, url: `http://${host === '::1' ? '[::1]' : host}:${bound}`, close: () => closeServer(server) };
};

const graceMs = 2_000;

// Requests under way may end; idle connections and, after a grace, everything else is cut.
const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
