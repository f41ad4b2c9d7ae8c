/**
 * The name under which an agent sees a tool: `connector__tool`.
 *
 * *Law*: at most 64 characters of `[A-Za-z0-9_-]` with the agent's own prefix; the same pair has the same name on every machine
 * and after every restart, whatever else is listed; two pairs never have one name (peers 26, C30).
 *
 * How: a connector's part holds no `__` and no capital, so the first `__` of a name ends it. A part that is unsafe or too long is
 * cut and gets `-H` and 40 bits of a hash; a natural name that looks like that is hashed too, so no natural name can take it.
 */
import { createHash } from 'node:crypto';

/** Claude Code shows `mcp__connector__` before the name; Claude's API and OpenAI's allow 64 in all. */
const LIMIT = 64 - 'mcp__connector__'.length;
const CONNECTOR_LIMIT = 20;
const HASHED = /-H[A-Z2-7]{8}$/;

/** How names are made and whose they are. Tests of the conformance suite bring their own. */
export interface Naming {
  /** The name of a connector's tool. */
  of(connector: string, tool: string): string;
  /** Whether a name can only be that of a tool of this connector. */
  owns(connector: string, name: string): boolean;
}

export const naming: Naming = {
  of: (connector, tool) => {
    const part = connectorPart(connector);
    return `${part}__${toolPart(connector, tool, LIMIT - part.length - 2)}`;
  },
  owns: (connector, name) => name.startsWith(`${connectorPart(connector)}__`),
};

function connectorPart(connector: string): string {
  const natural = /^[a-z0-9](?:[a-z0-9-]|_(?!_))*$/.test(connector) && !connector.endsWith('_');
  if (natural && connector.length <= CONNECTOR_LIMIT) return connector;
  const readable = connector.toLowerCase().replace(/[^a-z0-9-]+/g, '_');
  return hashed(readable.replace(/^_|_$/g, ''), connector, CONNECTOR_LIMIT);
}

function toolPart(connector: string, tool: string, room: number): string {
  const natural = /^[A-Za-z0-9_-]+$/.test(tool) && !HASHED.test(tool);
  if (natural && tool.length <= room) return tool;
  return hashed(tool.replace(/[^A-Za-z0-9_-]+/g, '_'), `${connector}\0${tool}`, room);
}

function hashed(readable: string, whole: string, room: number): string {
  return `${readable.slice(0, room - 10)}-H${base32(createHash('sha256').update(whole).digest().subarray(0, 5))}`;
}

/** RFC 4648 letters; five bytes are eight of them. */
function base32(bytes: Buffer): string {
  const bits = BigInt(`0x${bytes.toString('hex')}`);
  return Array.from({ length: 8 }, (_, at) => letter(Number((bits >> BigInt(5 * (7 - at))) & 31n))).join('');
}

function letter(index: number): string {
  return 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charAt(index);
}
