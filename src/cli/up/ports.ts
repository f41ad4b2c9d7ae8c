/**
 * Ports of `up`: the same ones at every start, so that an agent that was pointed at the local MCP server stays pointed at it.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** `wanted` if it is free on loopback, else any free port. `taken` ones are not given out twice. */
export async function freePort(wanted: number | undefined, taken: ReadonlySet<number>): Promise<number> {
  const asked = wanted === undefined || taken.has(wanted) ? 0 : wanted;
  const port = await bound(asked).catch(() => bound(0));
  return taken.has(port) ? freePort(undefined, taken) : port;
}

/** Free ports for each name, preferring those of the last start. */
export async function freePorts<Name extends string>(
  names: readonly Name[],
  last: Readonly<Partial<Record<Name, number>>>,
): Promise<Record<Name, number>> {
  const ports = {} as Record<Name, number>;
  for (const name of names) ports[name] = await freePort(last[name], new Set(Object.values<number>(ports)));
  return ports;
}

async function bound(port: number): Promise<number> {
  const server = createServer();
  server.listen({ port, host: '127.0.0.1', exclusive: true });
  await once(server, 'listening');
  const { port: found } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return found;
}
