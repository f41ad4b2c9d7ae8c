/**
 * Where things lie, by the XDG rules: a variable counts only when it is an absolute path.
 */
import { existsSync, statSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { CommandError, EXIT } from './exit.ts';

export interface Paths {
  /** The configuration file that is read when none is named. It need not exist. */
  readonly config: string;
  /** The state directory: log, control socket, and what `up` keeps. 0700. */
  readonly state: string;
  readonly controlSocket: string;
  readonly log: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `named` is the state directory of `--state`. Throws a {@link CommandError} (2) when a file is where it should be. */
export function pathsOf(environment: Environment, named?: string): Paths {
  const base = (variable: string, ...fallback: readonly string[]): string => {
    const value = environment[variable];
    return value !== undefined && isAbsolute(value) ? value : join(home(environment), ...fallback);
  };
  const state = resolve(
    named ?? environment['DACAPO_STATE'] ?? join(base('XDG_STATE_HOME', '.local', 'state'), 'dacapo'),
  );
  const there = nearest(state);
  if (!statSync(there).isDirectory())
    throw new CommandError(EXIT.usage, `${there} is a file, no state directory`, 'name a directory with --state');
  return {
    config: join(base('XDG_CONFIG_HOME', '.config'), 'dacapo', 'config.yaml'),
    state,
    controlSocket: join(state, 'control.sock'),
    log: join(state, 'log.sqlite'),
  };
}

/** The path, or the nearest above it that is there. */
export function nearest(path: string): string {
  return existsSync(path) ? path : nearest(dirname(path));
}

/** A service account may have no home: then a directory of its own below the temporary one. */
function home(environment: Environment): string {
  const named = environment['HOME'] ?? homedir();
  return isAbsolute(named) ? named : join(tmpdir(), `dacapo-${userInfo().uid}`);
}
