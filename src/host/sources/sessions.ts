/**
 * The login of an account, as the desktop keeps it: a file `{session_id, cookie, user_id}` that is read again for every request,
 * so that a new cookie counts at once and none is kept. A request that was frozen under one account never leaves with the cookie
 * of another: the caller names the account, and a file of somebody else is refused (facts: tutti-client 1.2).
 */
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { z } from 'zod';

/** Why there is no cookie for a request. `reason` is for programs, the message for people; neither holds a secret. */
export class SessionRefused extends Error {
  override readonly name = 'SessionRefused';
  readonly reason: 'absent' | 'malformed' | 'signed-out' | 'other-account';
  constructor(reason: SessionRefused['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The login of one account. Only ever handed to the request that asked for it. */
export interface Session {
  readonly account: string;
  readonly cookie: string;
}

/** Where logins come from. */
export interface Sessions {
  /** The login of this account, now. Throws {@link SessionRefused}. */
  of(account: string): Promise<Session>;
  /** Who is logged in, where the source can say so: one file holds one login. `undefined`: many files, ask for one of them. */
  readonly current: (() => Promise<string | null>) | undefined;
}

const fileSchema = z.object({ session_id: z.string(), cookie: z.string(), user_id: z.string().max(191) });
const PLACE = '{account}';

/** Logins in files. A path with `{account}` in it names a file for each account, any other path the one login of the machine. */
export function sessionFiles(path: string): Sessions {
  const many = path.includes(PLACE);
  return {
    of: async (account) => fenced(await (many ? readOneOf(path, account) : readLogin(path)), account),
    current: many ? undefined : () => loggedIn(path),
  };
}

/** Who asks for an account that is not there may have misspelt it. */
async function readOneOf(pattern: string, account: string): Promise<Session> {
  try {
    return await readLogin(pattern.replace(PLACE, fileName(account)));
  } catch (error) {
    if (!(error instanceof SessionRefused) || error.reason !== 'absent') throw error;
    const known = await accountsOf(pattern);
    if (known.length === 0) throw error;
    throw new SessionRefused('absent', `${account} has no session file here; known are: ${known.join(', ')}`);
  }
}

/** Those with a file, where the name is in the file's and not in a folder's. */
async function accountsOf(pattern: string): Promise<string[]> {
  const [before = '', after] = basename(pattern).split(PLACE);
  if (after === undefined) return [];
  const names = await readdir(dirname(pattern)).catch(() => []);
  const ours = names.filter((name) => name.startsWith(before) && name.endsWith(after));
  return ours.map((name) => accountIn(name.slice(before.length, name.length - after.length))).sort();
}

function accountIn(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** An account's name as part of a path: it can neither leave the folder nor be hidden. */
function fileName(account: string): string {
  return encodeURIComponent(account).replaceAll('.', '%2E');
}

async function loggedIn(path: string): Promise<string | null> {
  try {
    return (await readLogin(path)).account;
  } catch (error) {
    if (error instanceof SessionRefused && error.reason !== 'malformed') return null;
    throw error;
  }
}

function fenced(session: Session, account: string): Session {
  if (session.account === account) return session;
  throw new SessionRefused(
    'other-account',
    `the session file is of another account than ${account}: use that account first`,
  );
}

async function readLogin(path: string): Promise<Session> {
  const file = fileSchema.safeParse(await readJson(path));
  if (!file.success)
    throw new SessionRefused('malformed', `${path} is no session file: expected session_id, cookie, user_id`);
  const { session_id: id, cookie, user_id: account } = file.data;
  if (id === '' || cookie === '' || account === '') throw new SessionRefused('signed-out', 'nobody is signed in');
  // A line break in a cookie would be another header.
  if (!/^[\x20-\x7e]{1,8192}$/.test(cookie))
    throw new SessionRefused('malformed', `the cookie in ${path} is no header value`);
  return { account, cookie };
}

async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    throw new SessionRefused('absent', `there is no session file ${path}: sign in first`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new SessionRefused('malformed', `${path} is not JSON`);
  }
}
