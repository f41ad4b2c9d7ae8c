/**
 * The owner's connection, and what becomes of it after a failed write. An fsync that failed once may report success the next time
 * although the data is gone, so nothing is tried again on the same connection: it is closed, and the file is opened anew and checked
 * before the next use.
 */
import { dirname } from 'node:path';
import { BrokenChain, GENESIS, type ChainPoint } from './chain.ts';
import { LogUnavailable, LogUnreadable } from './log.ts';
import { openDatabase, prepareAll, type Connection } from './sqliteConnection.ts';
import { foreignWriter, logError } from './logError.ts';
import { closedLog, SqliteReader } from './sqliteReader.ts';
import { syncFolder } from './storeFile.ts';

/** `quick_check` reads the whole file, 12 ms for so many bytes; above them the end of the chain alone is checked at open. */
const QUICK_CHECK_BYTES = 16 * 1024 * 1024;
/** Events at the end whose chain is checked at open. */
const TAIL_EVENTS = 5_000;

export class OwnedConnection {
  readonly path: string;
  /** The newest event that was acknowledged. *Changed by*: the log, with each append. */
  acknowledged: ChainPoint = { position: 0, link: GENESIS };
  #connection: Connection | undefined;
  /** Ids of the batch whose commit failed: the only ones that may be found beyond `acknowledged` then. */
  #doubtful: ReadonlySet<string> = new Set();
  #closed = false;

  constructor(path: string, connection: Connection) {
    this.path = path;
    this.#connection = connection;
  }

  /** A connection that no write has failed on. *Errors*: as opening a log. */
  get(): Connection {
    return this.#connection ?? this.#reopen();
  }

  /** Runs a write. *Errors*: typed; the connection is then given up. */
  write<T>(work: (connection: Connection) => T): T {
    const connection = this.get();
    try {
      return work(connection);
    } catch (error) {
      throw this.giveUp(error);
    }
  }

  /** Closes the connection after `error` and returns the typed error to throw. `doubtful` are the ids of the batch, if it was one. */
  giveUp(error: unknown, doubtful: readonly string[] = []): Error {
    this.#doubtful = new Set(doubtful);
    closeQuietly(this.#connection);
    this.#connection = undefined;
    return logError(error, this.path);
  }

  close(): void {
    closeQuietly(this.#connection);
    this.#connection = undefined;
    this.#closed = true;
  }

  #reopen(): Connection {
    if (this.#closed) throw closedLog(this.path);
    const db = openDatabase(this.path, 'owner');
    try {
      const connection = prepareAll(db);
      this.#takeBack(connection);
      check(this.path, connection, this.acknowledged);
      return (this.#connection = connection);
    } catch (error) {
      closeQuietly({ db });
      throw logError(error, this.path);
    }
  }

  /**
   * Removes the batch whose commit failed, should it have reached the file after all: it was not acknowledged, and what is built on
   * it could be lost with it.
   */
  #takeBack(connection: Connection): void {
    const beyond = connection.idsAfter.all(this.acknowledged.position);
    if (beyond.some((id) => !this.#doubtful.has(id))) throw foreignWriter(this.path);
    if (beyond.length > 0) connection.deleteAfter.run(this.acknowledged.position);
    settle(this.path, connection);
  }
}

/** Checks the file and the end of the chain, which must be `expected`. */
export function check(path: string, connection: Connection, expected?: ChainPoint): ChainPoint {
  const reader = new SqliteReader(path, () => connection);
  const damage = sizeOf(connection) > QUICK_CHECK_BYTES ? null : reader.damage('quick_check');
  if (damage !== null) throw new LogUnreadable(`${path}: ${damage}; move it away or restore a backup`);
  const held = reader.tail(TAIL_EVENTS);
  if (expected !== undefined && (held.position !== expected.position || held.link !== expected.link))
    throw new BrokenChain(expected.position, `the log ends at ${held.position} now`);
  return held;
}

/**
 * What an owner does with a file that it has just opened: what lies in the WAL may stand on a sync that failed, in this process or in
 * one before it, so nothing new is written behind it; and the name of the WAL must last before anything counts on it. *Errors*:
 * {@link LogUnavailable} while another program reads, which keeps the WAL as it is.
 */
export function settle(path: string, connection: Pick<Connection, 'db'>): void {
  if (!emptyWal(connection))
    throw new LogUnavailable(`another program is reading ${path}: wait until it is done, then try again`);
  syncFolder(dirname(path));
}

/** Moves everything from the WAL into the file. A reader in the middle of a page delays it, and it says `false`; the next call does it then. */
export function emptyWal({ db }: Pick<Connection, 'db'>): boolean {
  const [said] = db.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[];
  return said?.busy === 0;
}

/** Undoes an open transaction, if the error left one. */
export function rollBack({ db }: Connection): void {
  if (db.inTransaction) db.exec('rollback');
}

function sizeOf({ db }: Connection): number {
  return Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }));
}

/** An error on closing says nothing that the failed write had not said. */
function closeQuietly(connection: Pick<Connection, 'db'> | undefined): void {
  try {
    connection?.db.close();
  } catch {
    // The file is opened anew and checked before it is used again.
  }
}
