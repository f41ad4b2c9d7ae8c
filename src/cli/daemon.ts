/** Asks the daemon of a state directory, through its control socket. */
import { callControl, streamControl } from '../host/controlClient.ts';
import { pathsOf } from './paths.ts';
import type { CommonOptions } from './program.ts';

/** One answer. Throws DaemonNotRunning (5) and what the daemon refused. */
export function askDaemon(options: CommonOptions, command: string, input: unknown = {}): Promise<unknown> {
  return callControl(pathsOf(process.env, options.state).controlSocket, command, input);
}

/** Answers one after the other. */
export function followDaemon(
  options: CommonOptions,
  command: string,
  input: unknown = {},
): AsyncGenerator<unknown, void, undefined> {
  return streamControl(pathsOf(process.env, options.state).controlSocket, command, input);
}
