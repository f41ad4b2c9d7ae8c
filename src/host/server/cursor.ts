/**
 * The cursor of the aggregate list: where each connector's own list goes on, bound to the routes it was begun with. Opaque to
 * agents and signed with a key of this process, because what comes back is sent on to connectors.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { limits } from '../../protocol/index.ts';

/** Where one connector's list goes on. */
export interface Part {
  /** Key of the route in the table. */
  readonly route: string;
  /** `null`: at its beginning. */
  readonly cursor: string | null;
  /** Pages read so far: a list without end is a fault, not a long list. */
  readonly page: number;
}

const schema = z.strictObject({
  set: z.string(),
  parts: z.array(z.strictObject({ route: z.string(), cursor: z.string(), page: z.number().int() })),
});

export interface Cursors {
  write(set: string, parts: readonly Part[]): string;
  /** Undefined for what this process did not write for these routes: the list must be begun anew. */
  read(text: string, set: string): readonly Part[] | undefined;
}

export function cursors(key: Buffer = randomBytes(32)): Cursors {
  const sign = (body: string): Buffer => createHmac('sha256', key).update(body).digest();
  return {
    write: (set, parts) => {
      const body = Buffer.from(JSON.stringify({ set, parts })).toString('base64url');
      return `${body}.${sign(body).toString('base64url')}`;
    },
    read: (text, set) => {
      const [body = '', signature = ''] = text.split('.', 2);
      const given = Buffer.from(signature, 'base64url');
      const right = sign(body);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
      const cursor = schema.parse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')));
      const fits = cursor.set === set && cursor.parts.every(({ page }) => page < limits.pages);
      return fits ? cursor.parts : undefined;
    },
  };
}

/** The identity of a set of routes: another generation or login is another set. */
export function routeSet(
  routes: Iterable<{ readonly key: string; readonly generation: string; readonly epoch: number }>,
): string {
  const lines = [...routes].map(({ key, generation, epoch }) => JSON.stringify([key, generation, epoch])).sort();
  return createHash('sha256').update(lines.join('\n')).digest('base64url');
}
