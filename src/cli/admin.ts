/** Asks the authority's operator door: how `up` signs its demo accounts in, and how `demo` changes things on the server's side. */
import { request } from 'undici';
import { CommandError, EXIT } from './exit.ts';

export interface Admin {
  readonly url: string;
  readonly token: string;
}

/** One request. Throws a CommandError with the authority's own words, or one that says it is away (5). */
export async function askAdmin(admin: Admin, path: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
  const reply = await request(`${admin.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    headersTimeout: 10_000,
    bodyTimeout: 10_000,
  }).catch(() => {
    throw new CommandError(EXIT.unavailable, 'the authority does not answer', 'start it with `dacapo up`');
  });
  const answer = (await reply.body.json().catch(() => ({}))) as { readonly message?: string };
  if (reply.statusCode < 300) return answer;
  const message = answer.message ?? `status ${String(reply.statusCode)}`;
  throw new CommandError(codeOf(reply.statusCode), `the authority refused: ${message}`, 'see `dacapo status`');
}

function codeOf(status: number): CommandError['exit'] {
  if (status === 401 || status === 403) return EXIT.unauthorized;
  return status >= 500 || status === 429 ? EXIT.unavailable : EXIT.failed;
}
