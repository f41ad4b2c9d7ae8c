/** Where the table is worked out: folders, the shim of this process and of its children, and logs to start from. */
import Database from 'better-sqlite3';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteLog } from '../../src/events/index.ts';
import { compileChild, removeChildren } from '../events/child/compile.ts';
import { lay } from './disk.ts';
import { Control, withShim, type Mode, type Operation } from './shim.ts';
import { eventsAfter, live, nothing, type Acknowledged, type LifeName, type Witness } from './workload.ts';

export const LOG = 'log.db';
/** What a disk keeps is worked out, not tried, so a real sync would only cost. */
const MEMORY = '/dev/shm';

/** Files to start a life from, and what was acknowledged of them. */
export interface Start {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly before: Acknowledged;
}

export class Place {
  readonly #root = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'dacapo-crash-'));
  readonly #own: Control;
  readonly #childs: Control;
  readonly #shim: string;
  readonly #child: string;
  #folders = 0;

  private constructor(shim: string, control: Control, child: string) {
    [this.#shim, this.#own, this.#child] = [shim, control, child];
    this.#childs = new Control(join(this.#root, 'control'));
  }

  /** In a process that was started with {@link withShim} of `shim` and `control`. */
  static async open(shim: string, control: Control): Promise<Place> {
    return new Place(shim, control, await compileChild('crash/child.ts'));
  }

  /** A new folder with these files, for as long as `work` takes. */
  async with<T>(files: ReadonlyMap<string, Buffer>, work: (folder: string) => T | Promise<T>): Promise<T> {
    const folder = this.#lay(files);
    try {
      return await work(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  /** The same for work that has something to say on the way. */
  async *stay<T>(
    files: ReadonlyMap<string, Buffer>,
    work: (folder: string) => AsyncGenerator<T, void, void>,
  ): AsyncGenerator<T, void, void> {
    const folder = this.#lay(files);
    try {
      yield* work(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  #lay(files: ReadonlyMap<string, Buffer>): string {
    const folder = join(this.#root, `log-${String(++this.#folders)}`);
    lay(files, folder);
    return folder;
  }

  /** Does something to a log in this process, and returns every operation it took; `note` puts a word among them. */
  async record(
    files: ReadonlyMap<string, Buffer>,
    work: (path: string, note: (all: Acknowledged) => void) => Promise<{ close(): void }>,
    mode: Mode = 'count',
    at = 0,
  ): Promise<readonly Operation[]> {
    return this.with(files, async (folder) => {
      this.#own.arm(folder, mode, at, true);
      const log = await work(join(folder, LOG), (all) => this.#own.note(JSON.stringify(all)));
      this.#own.disarm();
      log.close();
      return this.#own.take();
    });
  }

  /** Lives in this process with a disk that refuses; `relent` ends that. Returns where it was left, closed. */
  async suffer(folder: string, life: LifeName, start: Start, mode: Mode, at: number, witness: Witness): Promise<void> {
    this.#own.arm(folder, mode, at);
    try {
      (await live(join(folder, LOG), life, witness, start.before)).close();
    } finally {
      this.#own.disarm();
    }
  }

  relent(): void {
    this.#own.relent();
  }

  /** Lives in a process that is ended at operation `at`; returns what it had acknowledged, if anything. */
  kill(folder: string, life: LifeName, start: Start, mode: Mode, at: number): Acknowledged | undefined {
    const said = join(this.#root, 'said.json');
    rmSync(said, { force: true });
    this.#childs.arm(folder, mode, at);
    const args = [this.#child, join(folder, LOG), life, said, JSON.stringify(start.before)];
    const child = spawnSync(process.execPath, args, {
      env: withShim(this.#shim, this.#childs.path),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (child.signal !== 'SIGKILL') throw new Error(`the process was not killed at operation ${String(at)}`);
    return read(said);
  }

  /** Nothing for a whole life, and for a brief one the file of a version that knew neither checkpoints nor segments. */
  async start(life: LifeName): Promise<Start> {
    if (life === 'whole') return { files: new Map(), before: nothing };
    return this.with(new Map(), async (folder) => {
      const path = join(folder, LOG);
      const log = await openSqliteLog(path);
      log.append(eventsAfter(0, 3));
      log.close();
      forget(path, ['checkpoints', 'segments', 'segmentParts'], '0001-events');
      return { files: filesOf(folder), before: { ...nothing, head: 3, backup: 3 } };
    });
  }

  close(): void {
    this.#childs.close();
    rmSync(this.#root, { recursive: true });
    removeChildren();
  }
}

/** Takes the tables of later migrations out again. */
function forget(path: string, tables: readonly string[], last: string): void {
  const db = new Database(path);
  for (const table of tables) db.exec(`drop table "${table}"`);
  db.prepare('delete from kysely_migration where name > ?').run(last);
  db.close();
}

export function filesOf(folder: string): ReadonlyMap<string, Buffer> {
  const names = readdirSync(folder).filter((name) => !name.endsWith('-shm'));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}

function read(path: string): Acknowledged | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Acknowledged;
  } catch {
    return undefined;
  }
}
