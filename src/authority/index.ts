/**
 * authority/ answers "may this be done?": it alone understands tokens, holds provider credentials, counts revisions and decides
 * about calls. Daemons reach it through the control plane (HTTP and hints), gateways through three RPCs, operators through the
 * admin door. DESIGN 8.
 *
 * It may import protocol, and the packages that DESIGN 3 names for it. It must never import host or gateway, contact an upstream,
 * write a secret or token in the clear anywhere, change an authorization without raising its revision in the same transaction, or
 * let somebody through because it does not know.
 */
export { openAuthority, rpcAddressFor, type Authority, type AuthorityOptions } from './open.ts';
export { demoSeed, emptySeed, type Seed } from './seed.ts';
export { bindingSchema, contractHash, type Binding } from './bindings.ts';
export { hintPath } from './hints.ts';
export { StoreRefused } from './store.ts';
export { AddressRefused } from './httpServer.ts';
export { newKeyLine } from './keyring.ts';
export type { Log } from './log.ts';
