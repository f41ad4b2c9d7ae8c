/**
 * The account session on the wire: a cookie of this name, or a bearer. Both doors that take it read it here, so that they never
 * disagree about who asks.
 */
export const sessionCookie = 'dacapo_session';

/** Tokens are visible ASCII without anything that separates cookies or list elements. */
const tokenShape = /^[A-Za-z0-9._~+/=-]{16,4096}$/;

/** The token of a request, `undefined` when there is none that can be read, or when cookie and bearer name two. */
export const sessionToken = (headers: {
  readonly cookie?: string | undefined;
  readonly authorization?: string | undefined;
}): string | undefined => {
  const bearer = /^Bearer ([^\s]+)$/i.exec(headers.authorization ?? '')?.[1];
  if (headers.authorization !== undefined && bearer === undefined) return undefined;
  const named = [...cookieValues(headers.cookie ?? ''), ...(bearer === undefined ? [] : [bearer])];
  const [token] = named;
  const one = token !== undefined && named.every((other) => other === token);
  return one && tokenShape.test(token) ? token : undefined;
};

const cookieValues = (header: string): readonly string[] =>
  header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${sessionCookie}=`))
    .map((pair) => pair.slice(sessionCookie.length + 1));
