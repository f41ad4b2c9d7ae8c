/**
 * host/ answers "what is heard, and what is done": the daemon's ears (snapshots, hints, clock, logins, connectors), its hands (routes
 * to processes and gateways), and the aggregate MCP server that agents see.
 *
 * May import: events, reconcile, protocol; ws, rxjs, undici, the MCP SDK, zod and the rest of its row in the table of rooms.
 * Must never: decide what is published (the core does), import the gateway or the authority, keep a list of tools for agents, hold a
 * cookie longer than one request, or let a word of the wire, an address or a secret become part of an event.
 * Read on in daemon.ts (how it is put together), routes/perform.ts (the effects) and server/aggregate.ts (the list and the call).
 */
export { openDaemon, type Daemon, type DaemonPorts } from './daemon.ts';
export {
  connectorSchema,
  daemonConfigSchema,
  type ConnectorConfig,
  type DaemonConfig,
  type DaemonConfigInput,
} from './config.ts';
export { callControl, streamControl, ControlRefused, DaemonNotRunning } from './controlClient.ts';
export type { ConnectStep } from './authorization.ts';
export type { Log } from './log.ts';
export type { Naming } from './server/names.ts';
export type { RemoteClient, RemoteClientRequest, RemoteMCPClientFactory } from './routes/remoteClientFactory.ts';
