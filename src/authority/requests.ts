/** What the HTTP doors share: who asks, what they sent, and how a refusal looks. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Hono, type Context } from 'hono';
import type { z } from 'zod';
import { BadJson, parseJson } from '../protocol/json.ts';
import type { Log } from './log.ts';
import { Problem } from './problems.ts';

/** Room for a secret of the greatest length with every character escaped, and the object around it. */
const maxBodyBytes = 128 * 1024;

/** The bytes of a JSON body within its bound. Throws a {@link Problem}. */
export const jsonBytes = async (context: Context): Promise<Uint8Array> => {
  const type = context.req.header('content-type') ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type)) throw new Problem('media_type', 'Send application/json.');
  return bodyBytes(context.req.raw);
};

/** A JSON body in the shape of a schema. Throws a {@link Problem}; its message never quotes the body. */
export const readBody = async <S extends z.ZodType>(context: Context, schema: S): Promise<z.output<S>> => {
  const read = schema.safeParse(parsed(await jsonBytes(context)));
  if (read.success) return read.data;
  const where = read.error.issues.map((issue) => issue.path.join('.') || 'the body').slice(0, 5);
  throw new Problem('malformed', `Not as this request needs it: ${where.join(', ')}.`);
};

const parsed = (bytes: Uint8Array): unknown => {
  try {
    return parseJson(bytes, { duplicates: 'refuse', maxDepth: 8 }).value;
  } catch (error) {
    if (error instanceof BadJson) throw new Problem('malformed', `Send one JSON object: ${error.message}.`);
    throw error;
  }
};

const bodyBytes = async (request: Request): Promise<Uint8Array> => {
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > maxBodyBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBodyBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const tooLarge = (): Problem => new Problem('too_large', `A body has at most ${maxBodyBytes} bytes.`);

/** Equal, in a time that tells nothing about where they differ or how long either is. */
export const sameSecret = (given: string, expected: string): boolean => {
  const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();
  return timingSafeEqual(digest(given), digest(expected));
};

/** A door without routes yet: every failure leaves as `{code, message, retryable}`, and what we did not expect as 503 without a word of it. */
export const newDoor = (log: Log): Hono => {
  const door = new Hono({ strict: true });
  door.use(async (context, next) => {
    // Nothing here is for a page in a browser, so a page in a browser has no business here.
    if (context.req.header('origin') !== undefined)
      throw new Problem('origin_refused', 'Requests from web pages are refused.');
    await next();
    context.res.headers.set('cache-control', 'no-store');
  });
  door.notFound((context) => refuse(context, new Problem('not_found', 'There is nothing at this path.')));
  door.onError((error, context) => {
    if (error instanceof Problem) return refuse(context, error);
    log('error', 'a request failed', { error: error.name, path: context.req.routePath });
    return refuse(context, new Problem('unavailable', 'The authority could not answer; try again shortly.', 1000));
  });
  return door;
};

const refuse = (context: Context, problem: Problem): Response => {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (problem.status === 401) headers['www-authenticate'] = 'Bearer';
  if (problem.retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(problem.retryAfterMs / 1000));
  const { code, message, retryable } = problem;
  return context.json({ code, message, retryable }, problem.status, headers);
};
