/**
 * protocol/ answers "what do the words on the wire mean?": JSON-RPC, MCP in both eras, headers, server-sent events, errors, the
 * control plane's snapshot and hints, and the messages between door and authority.
 *
 * Pure functions and parsers, and a client and checks that work over a `post` or bytes they are given: no socket, no file, no
 * environment is opened here. It imports no other room. It must never turn a word into an event (the host does that), so that a
 * change of the wire never reaches the fold; it must never hold a table shared by two calls; it must never repeat a foreign
 * body in an error message.
 */
export * from './limits.ts';
export * from './json.ts';
export * from './jsonrpc.ts';
export * from './mcp.ts';
export * from './headers.ts';
export * from './results.ts';
export * from './errors.ts';
export * from './sse.ts';
export * from './control.ts';
export * from './stop.ts';
export * from './post.ts';
export * from './streamedPost.ts';
export * from './deadline.ts';
export * from './outgoing.ts';
export * from './exchange.ts';
export * from './failure.ts';
export * from './send.ts';
export * from './client.ts';
export * from './answer.ts';
export * from './transport.ts';
export * from './server.ts';
