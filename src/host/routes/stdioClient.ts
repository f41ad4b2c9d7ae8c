/**
 * A session with a connector's process. The SDK's client does the handshake and answers the server's own requests; `tools/list` and
 * `tools/call` go beside it as raw lines with ids of ours, because the SDK validates what it carries: it drops members it does not
 * know and refuses a whole result for one unknown content block (facts: mcp 2.3 rows 27–29).
 */
import { Client } from '@modelcontextprotocol/client';
import type { Log } from '../log.ts';
import * as wire from '../../protocol/index.ts';
import { StdioTransport, type ChildLimits, type ChildSpec } from './stdioTransport.ts';

export interface StdioOptions {
  readonly hostVersion: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly limits?: ChildLimits;
  /** For start and handshake together. */
  readonly openMs?: number;
  /** The server says that its tools changed. */
  readonly onToolsChanged?: () => void;
  /** What a child that failed to start said on stderr. May hold anything it knows. */
  readonly onLastWords?: (text: string) => void;
}

export interface StdioAsk {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  /** The params text of each progress notification, with the token that we gave. In the order of the wire, before the answer. */
  readonly onProgress?: (paramsText: string) => void;
}

/** Writes the params of a request, given the token by which its progress will be known. */
export type ParamsText = (progressToken: string) => string;

interface Pending {
  readonly settle: (message: wire.Message) => void;
  readonly fail: (error: wire.McpError) => void;
  readonly onProgress: ((paramsText: string) => void) | undefined;
}

export class StdioClient {
  /** Whether the server promised to say when its tools change. */
  readonly announcesChanges: boolean;
  readonly #transport: StdioTransport;
  readonly #pending: Map<string, Pending>;
  #asked = 0;

  private constructor(client: Client, transport: StdioTransport, pending: Map<string, Pending>) {
    this.#transport = transport;
    this.#pending = pending;
    this.announcesChanges = client.getServerCapabilities()?.tools?.listChanged === true;
  }

  /** Starts the process and shakes hands. Throws an McpError (-33003, -33004, -33006) with why, and leaves no process behind. */
  static async open(spec: ChildSpec, options: StdioOptions): Promise<StdioClient> {
    const transport = new StdioTransport(spec, options.limits);
    const pending = new Map<string, Pending>();
    transport.tap = (message, raw) => take(pending, message, raw, options);
    transport.onerror = (error) => options.log('debug', 'stdio connector', { message: error.message });
    void transport.exited.then((reason) => failAll(pending, reason));
    const info = { name: 'dacapo', version: options.hostVersion };
    const client = new Client(info, { capabilities: {} });
    try {
      await shakeHands(client, transport, options);
    } catch (error) {
      await transport.close();
      options.onLastWords?.(transport.stderr());
      throw openError(error, await transport.exited);
    }
    if (client.getServerCapabilities()?.tools === undefined) {
      await transport.close();
      throw new wire.McpError(-33006, { message: 'the server declares no tools' });
    }
    return new StdioClient(client, transport, pending);
  }

  get pid(): number | undefined {
    return this.#transport.pid;
  }

  /** Resolves with why when the process is gone, whoever ended it. */
  get exited(): Promise<string> {
    return this.#transport.exited;
  }

  stderr(): string {
    return this.#transport.stderr();
  }

  /**
   * Sends one request and waits for its answer: a result, or the server's own error. Throws an McpError when there is none: -33004
   * for the deadline, -33003 for a process that is gone, and the signal's reason when it was given up (the server is told).
   */
  async ask(method: string, params: ParamsText, ask: StdioAsk): Promise<wire.ResultResponse | wire.ErrorResponse> {
    ask.signal.throwIfAborted();
    const token = `dacapo-${(this.#asked += 1)}`;
    const id = wire.makeId(token);
    const answer = this.#await(id, ask);
    try {
      await this.#transport.write(wire.encodeRequest(id, method, params(token)));
    } catch (error) {
      this.#pending.get(id)?.fail(gone(error instanceof Error ? error.message : 'the process is gone'));
    }
    return answer;
  }

  #await(id: wire.Id, { signal, deadlineMs, onProgress }: StdioAsk): Promise<wire.ResultResponse | wire.ErrorResponse> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', given);
        this.#pending.delete(id);
      };
      const leave = (error: unknown): void => {
        end();
        this.#cancel(id);
        reject(error instanceof Error ? error : new Error('given up'));
      };
      const given = (): void => leave(signal.reason);
      const timer = setTimeout(() => leave(new wire.McpError(-33004)), wire.clampDelay(deadlineMs));
      signal.addEventListener('abort', given, { once: true });
      this.#pending.set(id, {
        onProgress,
        settle: (message) => (end(), resolve(message as wire.ResultResponse | wire.ErrorResponse)),
        fail: (error) => (end(), reject(error)),
      });
    });
  }

  /** On stdio a request is given up by a notification; there is no stream to close. */
  #cancel(id: wire.Id): void {
    const params = `{"requestId":${id},"reason":"no longer wanted"}`;
    this.#transport.write(wire.encodeNotification(wire.methods.cancelled, params)).catch(() => undefined);
  }

  /** Ends the process and everything it started. */
  close(): Promise<void> {
    return this.#transport.close();
  }
}

async function shakeHands(client: Client, transport: StdioTransport, options: StdioOptions): Promise<void> {
  const { signal, openMs = 15_000 } = options;
  const gone = transport.exited.then((reason) => {
    throw new Error(reason);
  });
  gone.catch(() => undefined);
  await Promise.race([client.connect(transport, { signal, timeout: openMs }), gone]);
}

/** The child's own words stay out of it: they may hold a secret, and this text reaches the log. */
function openError(error: unknown, exit: string): wire.McpError {
  const timeout = error instanceof Error && 'code' in error && error.code === 'REQUEST_TIMEOUT';
  const why = exit === 'closed' ? 'it did not complete the handshake' : exit;
  return new wire.McpError(timeout ? -33004 : -33003, { message: `the connector's process failed: ${why}` });
}

function gone(reason: string): wire.McpError {
  return new wire.McpError(-33003, {
    message: `the connector's process is gone: ${reason}; whether it acted is unknown`,
  });
}

function failAll(pending: Map<string, Pending>, reason: string): void {
  for (const one of [...pending.values()]) one.fail(gone(reason));
}

/** Answers to our ids and notifications about our requests are ours; the rest is the SDK's. */
function take(
  pending: Map<string, Pending>,
  message: Readonly<Record<string, unknown>>,
  raw: string,
  options: StdioOptions,
): boolean {
  if (message['method'] === wire.methods.toolsChanged) {
    options.onToolsChanged?.();
    return true;
  }
  if (message['method'] === wire.methods.progress) return progress(pending, message, raw);
  // A request of the server's own, under whatever id: it answers nothing.
  if (Object.hasOwn(message, 'method')) return false;
  const id = message['id'];
  const one = typeof id === 'string' ? pending.get(JSON.stringify(id)) : undefined;
  // An answer to a request that was given up has our id and nobody who waits.
  if (one === undefined) return typeof id === 'string' && id.startsWith('dacapo-');
  try {
    one.settle(wire.parseMessage(wire.parseJson(raw)));
  } catch {
    one.fail(new wire.McpError(-33006, { message: 'the connector answered outside the protocol' }));
  }
  return true;
}

function progress(pending: Map<string, Pending>, message: Readonly<Record<string, unknown>>, raw: string): boolean {
  const params = message['params'];
  const token = wire.isObject(params) ? wire.member(params, 'progressToken') : undefined;
  if (typeof token === 'string')
    pending.get(JSON.stringify(token))?.onProgress?.(wire.rawMember(raw, 'params') ?? '{}');
  return true;
}
