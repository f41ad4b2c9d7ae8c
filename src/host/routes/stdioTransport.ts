/**
 * A connector's process as a transport of the SDK's client: one JSON-RPC message a line on stdin and stdout. The stock transport
 * kills only the leader, waits for nobody and can't bound a line (facts: mcp 2.4, reliability D46), hence this one.
 *
 * A *tap* sees every incoming message with its raw line first, so that results can pass on byte for byte and the SDK's client
 * gets only what it asked for.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { parseJson } from '../../protocol/index.ts';
import { Allowance, LineReader, Tail, textOf, type Bounds } from './lines.ts';
import { endTree, markVariable, patience, signalGroup, type Patience } from './processTree.ts';

export interface ChildSpec {
  /** Absolute path of a program. Never a shell, never a line to be split. */
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child, see childEnv.ts. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Marks the child and whoever it starts: `owner:boot:child`. */
  readonly mark: string;
}

export interface ChildLimits {
  readonly lineBytes: number;
  readonly stderrBytes: number;
  /** What it may write on stdout that nobody asked for: each line of it costs the daemon, and so everybody else's connectors. */
  readonly noise: Bounds;
  /** How long the child may leave its stdin unread while we have something to say. */
  readonly writeMs: number;
  readonly patience: Patience;
}
export const childLimits: ChildLimits = {
  lineBytes: 8 * 1024 * 1024,
  stderrBytes: 64 * 1024,
  noise: { lines: 5_000, bytes: 8 * 1024 * 1024, perMs: 10_000 },
  writeMs: 10_000,
  patience,
};

/** Sees a message first. True when it was meant for the tap and nobody else. */
export type Tap = (message: Readonly<Record<string, unknown>>, raw: string) => boolean;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  /** Set before `start`. */
  tap: Tap = () => false;
  /** Resolves once, with why, when the leader is gone and its pipe is read to the end. */
  readonly exited: Promise<string>;

  readonly #spec: ChildSpec;
  readonly #limits: ChildLimits;
  readonly #stderr: Tail;
  readonly #noise: Allowance;
  #child: ChildProcess | undefined;
  #closing: Promise<void> | undefined;
  #why: string | undefined;
  #tellExit!: (reason: string) => void;

  constructor(spec: ChildSpec, limits: ChildLimits = childLimits) {
    this.#spec = spec;
    this.#limits = limits;
    this.#stderr = new Tail(limits.stderrBytes);
    this.#noise = new Allowance(limits.noise);
    this.exited = new Promise((resolve) => {
      this.#tellExit = resolve;
    });
  }

  /** Of the leader; undefined before the start and when the program could not be started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** What the child said last on stderr. */
  stderr(): string {
    return this.#stderr.text();
  }

  start(): Promise<void> {
    const { command, args, env, cwd, mark } = this.#spec;
    const child = spawn(command, args, {
      cwd,
      env: { ...env, [markVariable]: mark },
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      // Its own group: a signal to the leader alone leaves its children behind.
      detached: true,
      windowsHide: true,
    });
    this.#child = child;
    this.#listen(child);
    return new Promise((resolve, reject) => {
      child.once('spawn', () => resolve());
      child.once('error', (error) => reject(error));
    });
  }

  #listen(child: ChildProcess): void {
    const lines = new LineReader(this.#limits.lineBytes);
    child.stdout?.on('data', (chunk: Buffer) => this.#read(lines, chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    // A broken pipe is told by the exit; without a listener it would end the daemon.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => undefined);
    child.once('error', (error) => this.#ended(`could not be started: ${codeOf(error)}`));
    // Whoever still holds the pipe is of the same group and no longer wanted.
    child.once('exit', () => child.pid !== undefined && signalGroup(child.pid, 'SIGKILL'));
    child.once('close', (code, signal) => this.#ended(exitReason(code, signal)));
    child.once('exit', (code, signal) => {
      // A descendant outside the group may keep the pipe open for ever.
      setTimeout(() => this.#ended(exitReason(code, signal)), 500).unref();
    });
  }

  #read(lines: LineReader, chunk: Buffer): void {
    if (this.#why !== undefined) return;
    try {
      for (const line of lines.read(chunk)) this.#line(line);
    } catch (error) {
      this.#break(error instanceof RangeError ? error.message : 'its output could not be read');
    }
  }

  #line(line: Buffer): void {
    const raw = textOf(line);
    const message = raw === undefined ? undefined : parseMessage(raw);
    // Programs print on stdout what belongs on stderr; a daemon that ends them for it would be without half of them.
    if (raw === undefined || message === undefined) return this.#ignore(line);
    if (this.tap(message, raw)) return;
    if (message['jsonrpc'] !== '2.0') return this.#ignore(line);
    this.#noise.spend(line.length, performance.now());
    // The SDK's client walks what it is given, and one deep line would fill the stack and end the connector.
    if (isShallow(raw)) this.onmessage?.(message as unknown as JSONRPCMessage);
    else this.onerror?.(new Error('a message that is nested too deeply'));
  }

  #ignore(line: Buffer): void {
    this.#noise.spend(line.length, performance.now());
    if (line.length > 0) this.onerror?.(new Error('a line that is no JSON-RPC message'));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.write(JSON.stringify(message));
  }

  /** Writes a line. Rejects when the child is gone, or does not read for too long (then it is ended). */
  write(line: string): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin == null || !stdin.writable || this.#why !== undefined || this.#closing !== undefined) {
      return Promise.reject(new Error('the process is not running'));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#break('it does not read its input'), this.#limits.writeMs);
      stdin.write(`${line}\n`, (error) => {
        clearTimeout(timer);
        if (error == null) resolve();
        else reject(new Error('the process closed its input'));
      });
    });
  }

  #break(reason: string): void {
    this.#why ??= reason;
    this.onerror?.(new Error(reason));
    // Or it would go on to be read until it is gone.
    this.#child?.stdout?.destroy();
    void this.close();
  }

  #ended(reason: string): void {
    this.#why ??= reason;
    this.#tellExit(this.#why);
    const { onclose } = this;
    delete this.onclose;
    onclose?.();
  }

  /** Ends the process and everything it started. Resolves when that is done; calling it again waits for the same end. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    if (this.#child !== undefined) await endTree(this.#child, this.#spec.mark, this.#limits.patience);
    this.#ended('closed');
  }
}

function parseMessage(raw: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(raw);
    const object = typeof value === 'object' && value !== null && !Array.isArray(value);
    return object ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(raw: string): boolean {
  try {
    parseJson(raw);
    return true;
  } catch {
    return false;
  }
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function exitReason(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `exited with code ${code ?? 'unknown'}` : `ended by ${signal}`;
}
