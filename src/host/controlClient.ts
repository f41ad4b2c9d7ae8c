/** The other side of the daemon's door: what the command line calls. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { ControlError } from './control.ts';

/** The daemon said why it did not do what was asked. `reason` is for programs. */
export class ControlRefused extends Error {
  override readonly name = 'ControlRefused';
  /** Name of the error on the daemon's side. */
  readonly kind: string;
  readonly reason: string | undefined;
  constructor({ name, reason, message }: ControlError) {
    super(message);
    this.kind = name;
    this.reason = reason;
  }
}

/** Nobody answers at the socket. */
export class DaemonNotRunning extends Error {
  override readonly name = 'DaemonNotRunning';
  readonly code = 'ECONNREFUSED';
  constructor(path: string) {
    super(`no daemon answers at ${path}`);
  }
}

/** Commands that only tell. Any other may have acted when its answer does not come. */
const telling: ReadonlySet<string> = new Set([
  ...['status', 'why', 'endpoint', 'position', 'tables', 'tools'],
  ...['log.read', 'log.verify', 'log.export'],
]);

/** The daemon was asked, and went away before it had answered. */
export class ControlBroken extends Error {
  override readonly name = 'ControlBroken';
  readonly reason: 'told-nothing' | 'unknown-outcome';
  constructor(command: string) {
    const acts = !telling.has(command);
    super(`the daemon went away before it answered${acts ? `; whether the ${command} acted is unknown` : ''}`);
    this.reason = acts ? 'unknown-outcome' : 'told-nothing';
  }
}

/** Runs a command that answers once. Throws {@link ControlRefused}, {@link ControlBroken} and {@link DaemonNotRunning}. */
export async function callControl(path: string, command: string, input: unknown = {}): Promise<unknown> {
  let last: unknown;
  for await (const value of streamControl(path, command, input)) last = value;
  return last;
}

/** Runs a command and yields what it tells. Leaving the loop ends it on the daemon's side. */
export async function* streamControl(
  path: string,
  command: string,
  input: unknown = {},
): AsyncGenerator<unknown, void, undefined> {
  const response = await post(path, command, JSON.stringify(input));
  try {
    let held = '';
    response.setEncoding('utf8');
    for await (const chunk of response as AsyncIterable<string>) {
      const lines = (held + chunk).split('\n');
      held = lines.pop() ?? '';
      for (const line of lines) yield resultIn(line);
    }
    if (held !== '') yield resultIn(held);
  } catch (error) {
    throw broken(error) ? new ControlBroken(command) : error;
  } finally {
    response.destroy();
  }
}

function post(path: string, command: string, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath: path, path: `/${command}`, method: 'POST' }, resolve);
    request.once('error', (error: NodeJS.ErrnoException) => {
      const absent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
      reject(absent ? new DaemonNotRunning(path) : broken(error) ? new ControlBroken(command) : error);
    });
    request.end(body);
  });
}

function broken(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function resultIn(line: string): unknown {
  const { result, error } = JSON.parse(line) as { readonly result?: unknown; readonly error?: ControlError };
  if (error !== undefined) throw new ControlRefused(error);
  return result;
}
