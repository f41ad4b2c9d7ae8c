/** Starts a connector's process as its owner: environment, mark, handshake, and its last words in the log of the daemon. */
import { mkdirSync } from 'node:fs';
import { nanoid } from 'nanoid';
import { fail, McpError, type Outcome } from '../../protocol/index.ts';
import type { Log } from '../log.ts';
import { childEnv } from './childEnv.ts';
import type { Owner } from './owner.ts';
import type { OpenProcess } from './perform.ts';
import { StdioClient } from './stdioClient.ts';
import { stdioOwner } from './stdioOwner.ts';

export interface ProcessesOptions {
  /** `owner:boot` of this daemon: marks everything it starts, so that a later one can end what was left. */
  readonly mark: string;
  readonly hostVersion: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

export function processes(options: ProcessesOptions): OpenProcess {
  return async ({ connector, program }, { signal, onToolsChanged }) => {
    if (program === null) return fail('contract', 'there is no program to start');
    let changes = 0;
    try {
      mkdirSync(program.cwd, { recursive: true, mode: 0o700 });
      const env = childEnv(program.env, options.environment);
      const spec = { ...program, env, mark: `${options.mark}:${nanoid(8)}:` };
      const client = await StdioClient.open(spec, {
        hostVersion: options.hostVersion,
        log: options.log,
        signal,
        onToolsChanged: () => void ((changes += 1), onToolsChanged()),
        onLastWords: (text) => options.log('warn', `${connector} did not start`, { said: redact(text, program.env) }),
      });
      return { ok: true, value: stdioOwner(client, () => changes) };
    } catch (error) {
      return failed(error, signal);
    }
  };
}

function failed(error: unknown, signal: AbortSignal): Outcome<Owner> {
  if (signal.aborted) return fail('aborted', 'no longer wanted');
  if (error instanceof TypeError) return fail('contract', error.message);
  if (!(error instanceof McpError)) return fail('unavailable', 'its process could not be prepared');
  const kind = error.code === -33004 ? 'timeout' : error.code === -33006 ? 'protocol' : 'unavailable';
  return fail(kind, error.message);
}

/** The last lines, for a person: without what the definition declares (it may be a key) and without what moves a terminal. */
function redact(text: string, declared: Readonly<Record<string, string>>): string {
  const secrets = Object.values(declared).filter((value) => value.length >= 4);
  const clean = secrets.reduce((kept, value) => kept.replaceAll(value, '[redacted]'), text);
  return clean.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(-1_000);
}
