/**
 * demo: the outside world of `dacapo up`.
 *
 * Answers: a business server to call (the public everything server behind a key check) and a proxy before the authority that can
 * lose snapshots and hints, each movable through a control door that only this machine's user can open.
 * May import: the wire's words, the MCP SDK and the public demo servers, which are optional.
 * Must never: be imported by a room of the product other than the command line; keep a switch that product code reads.
 */
export { bareEnvironment, FIRST_KEY, runBusinessServer } from './businessServer.ts';
export type { BusinessServerOptions, BusinessSettings, DemoServer } from './businessServer.ts';
export { runAuthorityProxy } from './authorityProxy.ts';
export type { AuthorityProxyOptions, ProxySettings } from './authorityProxy.ts';
export { changeSettings, DemoNotRunning } from './control.ts';
export type { DemoName } from './control.ts';
export { NotInstalled } from './everything.ts';
export { SettingsRefused } from './settings.ts';
