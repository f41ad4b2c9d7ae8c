/**
 * Settings of a demo server that outlive its process: one small JSON file, mode 0600, replaced whole.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Reads unknown JSON into settings, or answers why it can't. Must not keep foreign keys. */
export type ReadSettings<S> = (value: unknown) => S | SettingsRefused;

/** A change that was not understood; `reason` says what is accepted. Nothing was changed. */
export class SettingsRefused extends Error {
  override readonly name = 'SettingsRefused';
}

/** Settings in memory, with the file behind them. */
export interface Settings<S> {
  readonly current: S;
  /** Replaces the named values, writes the file, then tells `onChange`. Throws {@link SettingsRefused}. */
  change(patch: Readonly<Record<string, unknown>>): S;
}

/**
 * Opens the settings of `file`; what is not there yet starts as `initial`.
 *
 * *Errors*: {@link SettingsRefused} when the file holds something else: a demo that silently starts anew would hide the change a person made.
 */
export function openSettings<S extends Readonly<Record<string, unknown>>>(
  file: string,
  initial: S,
  read: ReadSettings<S>,
  onChange: (settings: S) => void = () => {},
): Settings<S> {
  let current = accepted(read(stored(file) ?? initial));
  return {
    get current() {
      return current;
    },
    change(patch) {
      const next = accepted(read({ ...current, ...patch }));
      write(file, next);
      current = next;
      onChange(next);
      return next;
    },
  };
}

/** Writes JSON so that a reader sees the old file or the new one, and nobody else may read it. */
export function write(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/** The JSON of `file`, or `undefined` when there is none. */
export function stored(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SettingsRefused(`${file} can't be read (${(error as Error).message}); delete it to start anew`);
  }
}

function accepted<S>(settings: S | SettingsRefused): S {
  if (settings instanceof SettingsRefused) throw settings;
  return settings;
}
