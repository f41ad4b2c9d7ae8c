/** Port and bearer of the local server, kept over restarts: an agent that was set up once stays set up. Mode 0600. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { newToken } from './server/bindings.ts';

const schema = z.object({ port: z.number().int().min(1).max(65_535), token: z.string().regex(/^[A-Za-z0-9_-]{43}$/) });

export interface AgentAccess {
  readonly port: number;
  readonly token: string;
}

/** What was kept; a new bearer and no port when there is nothing, or nothing that can be used. */
export function readAccess(path: string): AgentAccess {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return { port: 0, token: newToken() };
  }
}

export function keepAccess(path: string, access: AgentAccess): void {
  writeFileSync(`${path}.new`, JSON.stringify(access), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
