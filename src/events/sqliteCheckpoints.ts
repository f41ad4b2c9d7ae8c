/**
 * States put by beside the events, so that a start need not fold them all. Caches: each is bound to the link at its position and to
 * the hash of its bytes, and one that does not hold is as good as none.
 */
import { hash } from 'node:crypto';
import type { Checkpoint } from './log.ts';
import type { Connection } from './sqliteConnection.ts';
import { sqlTexts } from './sqlTexts.gen.ts';

/** Should the newest one not hold, there is one more before a start has to fold everything. */
const KEPT = 2;

interface StoredCheckpoint {
  readonly position: number;
  readonly link: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** Stores a checkpoint; those of other keys go, and of this one the two newest stay. *Errors*: those of writing. */
export function saveCheckpoint(connection: Connection, { position, key, bytes }: Checkpoint): void {
  const { db } = connection;
  const link = linkAt(connection, position);
  if (link === null)
    throw new RangeError(`position ${position} is not the last of a batch: no state is kept in the middle`);
  db.transaction(() => {
    db.prepare(sqlTexts.deleteCheckpoints).run(key);
    db.prepare(sqlTexts.insertCheckpoint).run(position, key, link, digestOf(bytes), bytes);
    db.prepare(sqlTexts.deleteOldCheckpoints).run(KEPT);
  })();
}

/** The newest checkpoint of `key` that holds, or `undefined`. */
export function loadCheckpoint(connection: Connection, key: string): Checkpoint | undefined {
  const stored = connection.db.prepare<[string], StoredCheckpoint>(sqlTexts.checkpoints).all(key);
  const held = stored.find(
    ({ position, link, digest, bytes }) => linkAt(connection, position) === link && digestOf(bytes) === digest,
  );
  return held === undefined ? undefined : { position: held.position, key, bytes: held.bytes };
}

/** The link on the event at a position, or `null` where no batch ends. */
function linkAt({ linkBefore }: Connection, position: number): string | null {
  const last = linkBefore.get(position + 1, 1);
  return last?.position === position ? last.link : null;
}

/** Forgets all of them: what they were folded from is to be forgotten. */
export function dropCheckpoints({ db }: Connection): void {
  db.prepare(sqlTexts.deleteCheckpoints).run('');
}

const digestOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');
