/**
 * gateway: the server's door.
 *
 * Answers: `POST /v1/connectors/{connectorId}/mcp` for an account session, exactly server/discover, tools/list and tools/call. It
 * asks the authority once for each, forwards to the upstream that it is told, and reports how that ended.
 * May import: protocol, node's http and net, undici, grpc-js.
 * Must never: read a token, know a credential for longer than a call, name an upstream or a connection to a caller, follow a
 * redirect, or keep anything that two requests share beyond counts and served contracts.
 */
export { openGateway } from './open.ts';
export type { Gateway, GatewayOptions } from './open.ts';
export { gatewayLimits } from './bounds.ts';
export type { GatewayLimits } from './bounds.ts';
export type { ListenOptions } from './listener.ts';
export { openAuthorityClient } from './authorityClient.ts';
export type { AuthorityClient, AuthorityClientOptions } from './authorityClient.ts';
export { argumentDigest } from './argumentDigest.ts';
