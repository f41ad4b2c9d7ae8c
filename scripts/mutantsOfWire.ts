/**
 * One-line bugs of the wire, each with the test files that must notice it: a hostile or sloppy peer is let in, an answer is taken for
 * another, a secret or a right goes where it does not belong.
 */
import type { Law } from '../src/simulate/index.ts';

/** A bug that named tests must notice. */
export interface TestedMutant {
  readonly name: string;
  /** That it breaks; the wire's break promises of their own. */
  readonly law?: Law;
  /** Path below src/. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Paths below test/. */
  readonly tests: readonly string[];
}

const mutant = (file: string, name: string, find: string, replace: string, ...tests: string[]): TestedMutant => ({
  ...{ name, file, find, replace },
  tests: tests.map((test) => `${test}.test.ts`),
});

const client = 'protocol/client';
const hostile = 'protocol/hostile';
const server = 'protocol/server';
const exchange = 'protocol/exchange.ts';
const results = 'protocol/results.ts';
const parameters = 'protocol/parameters.ts';
const transport = 'protocol/transport.ts';
const streamed = 'protocol/streamedPost.ts';
const call = 'gateway/call.ts';
const through = 'host/server/callThrough.ts';

export const wireMutants: readonly TestedMutant[] = [
  // Which answer is ours, and what is none.
  mutant(exchange, 'any-result-is-ours', "message.kind === 'result' && message.id === outgoing.id", "message.kind === 'result'", hostile), // prettier-ignore
  mutant(exchange, 'error-without-id-is-lost', 'message.id === outgoing.id || message.id === null', 'message.id === outgoing.id', client), // prettier-ignore
  mutant(exchange, 'redirects-are-read', 'if (status >= 300 && status < 400)', 'if (status > 600)', hostile),
  mutant(exchange, 'compressed-is-read', 'if (!isIdentity(headers))', 'if (headers === undefined)', hostile),
  mutant(exchange, 'any-type-is-json', "if (ok && type !== 'application/json' && type !== undefined)", 'if (status > 600)', hostile), // prettier-ignore
  mutant(exchange, 'answer-stays-open', '    response?.destroy();\n', '', 'protocol/streamedPost'),
  mutant(exchange, 'bare-refusal-is-a-break', "if (response !== undefined && response.status >= 400 && deadline.ended !== 'aborted')", 'if (response === null)', client), // prettier-ignore
  mutant(exchange, 'announced-length-is-not-read', "if (Number(headerField(response.headers, 'content-length') ?? 0) > maxBytes)", 'if (maxBytes === 0)', hostile), // prettier-ignore
  mutant(streamed, 'answers-without-end', 'if (this.#read > this.#maxBytes)', 'if (this.#read < 0)', 'protocol/streamedPost'), // prettier-ignore
  mutant(streamed, 'slow-reader-holds-all', 'if (this.#held > HELD_BYTES) controller.pause();', '', 'protocol/streamedPost'), // prettier-ignore
  mutant(streamed, 'given-up-while-queued', 'if (this.#error !== undefined) controller.abort(this.#error);', '', 'protocol/streamedPost'), // prettier-ignore
  mutant(streamed, 'rests-beyond-the-end', 'await Promise.race([rest, ended]);', 'await rest;', 'protocol/streamedPost', 'gateway/forwarding'), // prettier-ignore
  mutant('protocol/stop.ts', 'one-listener-lets-all-go', 'this.#listeners.delete(own)', 'this.#listeners.clear()', 'protocol/deadline'), // prettier-ignore
  mutant('protocol/deadline.ts', 'deadline-hears-no-caller', 'return outer.listen(giveUp);', 'return () => undefined;', 'protocol/deadline', 'gateway/forwarding'), // prettier-ignore
  mutant('protocol/send.ts', 'broken-call-is-made-again', "exchanged.stale && intent.method !== methods.call", 'exchanged.stale', client), // prettier-ignore
  mutant('protocol/send.ts', 'progress-of-anybody', ' && member(params, metaKeys.progressToken) === token', '', client),
  mutant('protocol/client.ts', 'retry-by-the-old-contract', '{ ...call, bindings: current.value.bindings }', 'call', client), // prettier-ignore
  mutant('protocol/client.ts', 'cursor-may-come-again', 'if (cursor !== undefined && cursors.has(cursor))', 'if (cursors.size < 0)', client), // prettier-ignore
  mutant('protocol/deadline.ts', 'giving-up-is-a-timeout', "this.#end('aborted')", "this.#end('timeout')", client),
  mutant('protocol/errors.ts', 'bare-428-is-one-request', "if (answer.status === 428) return { kind: 'rejected', code: 428, retryAfterMs };", '', 'protocol/errors'), // prettier-ignore
  mutant(results, 'result-without-a-type', "if (type !== 'complete')", "if (type !== 'complete' && type !== undefined)", hostile), // prettier-ignore
  mutant(results, 'one-bad-tool-costs-all', "if ('reason' in tool) excluded.push(tool);", "if ('reason' in tool) throw new BadResult(tool.reason);", client), // prettier-ignore
  mutant('protocol/outgoing.ts', 'empty-cursor-is-none', 'intent.cursor !== undefined ? JSON', 'intent.cursor ? JSON', client), // prettier-ignore
  mutant('protocol/sse.ts', 'line-end-cut-in-two', "afterReturn && text.startsWith('\\n') ? text.slice(1) : text", 'text', 'protocol/sse'), // prettier-ignore
  mutant('protocol/sse.ts', 'event-without-a-bound', 'oversized ||= Buffer.byteLength(data) > eventBytes;', '', 'protocol/sse'), // prettier-ignore

  // What is said twice must be the same, and nobody speaks for another.
  mutant('protocol/json.ts', 'last-of-two-members-counts', "if (options.duplicates === 'refuse' && hasDuplicate(text))", 'if (text.length < 0)', server), // prettier-ignore
  mutant('protocol/json.ts', 'any-depth', 'if (depthOf(text) > (options.maxDepth ?? limits.jsonDepth))', 'if (text.length < 0)', 'protocol/json'), // prettier-ignore
  mutant('protocol/json.ts', 'broken-letters-are-mended', "new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })", "new TextDecoder('utf-8', { ignoreBOM: true })", 'protocol/json'), // prettier-ignore
  mutant('protocol/jsonrpc.ts', 'null-id-is-a-notification', "if (raw.has('id') && id === undefined) fail(", 'if (raw.size < 0) fail(', 'protocol/jsonrpc'), // prettier-ignore
  mutant('protocol/headers.ts', 'headers-without-case', 'return sent === said ? undefined', 'return sent.toLowerCase() === String(said).toLowerCase() ? undefined', 'protocol/headers', server), // prettier-ignore
  mutant('protocol/headers.ts', 'name-only-in-the-body', 'return decoded === said ? undefined', 'return decoded !== null ? undefined', 'protocol/headers', server), // prettier-ignore
  mutant('protocol/sentinel.ts', 'base64-with-loose-bits', 'return bytes.toString(\'base64\') === base64 ? decodeUtf8(bytes) : undefined;', 'return decodeUtf8(bytes);', 'protocol/headers'), // prettier-ignore
  mutant('protocol/sentinel.ts', 'plain-text-that-looks-encoded', 'SAFE.test(value) && !looksEncoded(value)', 'SAFE.test(value)', 'protocol/headers'), // prettier-ignore
  mutant(parameters, 'marks-below-items', 'if (path === null || path.length === 0)', 'if (path !== null && path.length === 0)', 'protocol/parameters'), // prettier-ignore
  mutant(parameters, 'secrets-become-headers', 'if (isSecret(schema, header, path))', 'if (header.length < 0)', 'protocol/parameters'), // prettier-ignore
  mutant(parameters, 'argument-without-its-header', 'if (sent === undefined) return `header Mcp-Param-${header} is missing`;', 'if (sent === undefined) continue;', 'protocol/parameters'), // prettier-ignore
  mutant(parameters, 'integers-as-letters', "if (typeof value === 'number') return", "if (typeof value === 'bigint') return", 'protocol/parameters'), // prettier-ignore
  mutant('protocol/mcp.ts', 'agent-writes-the-envelope', ' && !isReservedKey(key);', ';', 'protocol/headers'),
  mutant(transport, 'any-host', 'if (host === undefined || !allowed.hosts.has(host))', 'if (host === undefined)', server, 'host/access'), // prettier-ignore
  mutant(transport, 'null-is-no-origin', 'origin === undefined ||', "origin === undefined || origin === 'null' ||", server, 'host/access'), // prettier-ignore
  mutant('protocol/accountToken.ts', 'two-sessions-in-one-request', 'named.every((other) => other === token)', 'named.length > 0', 'gateway/door'), // prettier-ignore

  // The gateway: whose contract, whose credential, whose upstream.
  mutant('gateway/agreement.ts', 'headers-may-say-anything', 'if (left !== undefined) throw', 'if (left === null) throw', 'gateway/contracts', 'gateway/upstreams'), // prettier-ignore
  mutant('gateway/agreement.ts', 'contract-is-never-read-again', 'if (!door.contracts.isFresh(source.scope)) await', 'if (source.scope === \'\') await', 'gateway/contracts'), // prettier-ignore
  mutant('gateway/contracts.ts', 'contract-of-anybody', 'contracts.get(scope)?.tools.get(tool)', "[...contracts.values()].at(-1)?.tools.get(tool)", 'gateway/contracts'), // prettier-ignore
  mutant(call, 'confirmed-and-changed', 'if (sending.confirmed !== undefined && sending.confirmed !== tool.definitionHash)', 'if (sending.confirmed === null)', 'gateway/contracts'), // prettier-ignore
  mutant(call, 'progress-that-nobody-asked-for', "if (member(params, 'progressToken') !== inbound.progressToken) return;", '', 'gateway/forwarding'), // prettier-ignore
  mutant('gateway/upstream/failure.ts', 'upstream-speaks-for-us', 'if (isReservedCode(error.code) || asksForInput(error.code))', 'if (asksForInput(error.code))', 'gateway/errors'), // prettier-ignore
  mutant(
    'gateway/upstream/verdict.ts',
    'refusal-without-a-credential',
    ' && way.target.injected',
    '',
    'gateway/errors',
  ),
  mutant('gateway/upstream/modern.ts', 'upstream-is-called-again', "{ carriedText, progressToken }, onNotification, 'once'", "{ carriedText, progressToken }, onNotification, 'again'", 'gateway/forwarding'), // prettier-ignore
  mutant('gateway/upstream/target.ts', 'binding-writes-our-headers', ' || OURS.test(name)', '', 'gateway/forwarding'),
  mutant('gateway/redact.ts', 'escaped-credential-passes', "found(json) || json.includes('\\\\')", 'found(json)', 'gateway/redact'), // prettier-ignore
  mutant('gateway/egress/address.ts', 'any-host-of-the-world', 'if (!allowedHosts.includes(url.host))', 'if (allowedHosts.length < 0)', 'gateway/address', 'gateway/forwarding'), // prettier-ignore
  mutant('gateway/egress/address.ts', 'private-in-other-dress', "reach === 'private' && !isMapped(address)", "reach === 'private'", 'gateway/address'), // prettier-ignore
  mutant('gateway/egress/agents.ts', 'one-good-address-is-enough', '!addresses.every(', '!addresses.some(', 'gateway/forwarding'), // prettier-ignore
  mutant('gateway/admit/admission.ts', 'refused-call-keeps-its-place', '        leaveAccount();\n        throw error;', '        throw error;', 'gateway/admit'), // prettier-ignore
  mutant('gateway/admit/admission.ts', 'one-account-closes-for-all', '`${account} ${connector} ${upstream.endpoint}`', '`${connector} ${upstream.endpoint}`', 'gateway/admit'), // prettier-ignore
  mutant('gateway/listener.ts', 'first-of-two-headers-counts', 'if (repeats(request))', 'if (request.url === null)', 'gateway/door'), // prettier-ignore
  mutant('gateway/handle.ts', 'caller-gone-unnoticed', "if (!response.writableEnded) gone.end(", 'if (response.writableEnded) gone.end(', 'gateway/forwarding'), // prettier-ignore

  // The local server: whose request, whose tool, and what is still shown.
  mutant('host/server/bindings.ts', 'any-bearer', 'timingSafeEqual(held.digest, given)', 'held.digest.length === given.length', 'host/access'), // prettier-ignore
  mutant('host/server/inFlight.ts', 'cancels-a-namesake', 'if (meant.length === 1)', 'if (meant.length > 0)', 'host/localServer'), // prettier-ignore
  mutant('host/server/listener.ts', 'two-hosts', "if (countOf(request, 'host') !== 1)", 'if (request.url === null)', 'host/access'), // prettier-ignore
  mutant(through, 'answers-for-a-withdrawn-route', "  if (!isShown(options, route, handle))\n    throw refused(options, route, gone(route, 'while", "  if (handle === null)\n    throw refused(options, route, gone(route, 'while", 'host/withdrawn'), // prettier-ignore
  mutant(through, 'refusal-as-an-http-status', 'return new McpError(code, { message, httpStatus: 200,', 'return new McpError(code, { message,', 'host/localServer', 'host/remote'), // prettier-ignore
  mutant('host/server/listThrough.ts', 'lists-a-withdrawn-route', 'one.handle !== undefined && isShown(options, one.route, one.handle)', 'one.handle !== undefined', 'host/withdrawn'), // prettier-ignore
  mutant('host/server/contracts.ts', 'contract-outlives-a-change', 'held.changes === handle.owner.changes()', 'held.changes >= 0', 'host/localServer'), // prettier-ignore
  mutant('host/server/cursor.ts', 'anybody-writes-cursors', 'if (given.length !== right.length || !timingSafeEqual(given, right))', 'if (given.length !== right.length)', 'host/routes'), // prettier-ignore
  mutant('host/server/names.ts', 'name-of-another', ' && !HASHED.test(tool)', '', 'host/names'),
  mutant('host/server/republish.ts', 'marks-reach-agents', "new Map([['x-mcp-header', undefined]])", 'new Map()', 'host/routes', 'host/localServer'), // prettier-ignore
  mutant('host/server/dispatch.ts', 'missing-part-is-hidden', 'if (missing.length === 0 && excluded.length === 0)', 'if (excluded.length === 0)', 'host/remote', 'host/localServer'), // prettier-ignore
];
