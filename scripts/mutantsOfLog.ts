/**
 * One-line bugs of the log on disk and of the files it leaves in, each with the law that it would break and the test files that must
 * notice it. The worlds of the core have a log in memory, which no disk refuses and nobody copies.
 */
import type { Law } from '../src/simulate/index.ts';
import type { TestedMutant } from './mutantsOfWire.ts';

const mutant = (law: Law, file: string, name: string, find: string, replace: string, ...tests: string[]) => ({
  ...{ law, name, find, replace },
  file: `events/${file}.ts`,
  tests: tests.map((test) => `${test}.test.ts`),
});

const log = 'events/sqliteLog';
const compaction = 'events/compaction';
const checkpoints = 'events/checkpoints';
const body = 'events/segmentBody';
const logFile = 'events/logFile';

export const logMutants: readonly Required<TestedMutant>[] = [
  // What was acknowledged outlives a crash, and nothing else does.
  mutant('L12', 'sqliteConnection', 'commits-are-not-synced', "db.pragma('synchronous = FULL')", "db.pragma('synchronous = NORMAL')", log), // prettier-ignore
  mutant('L12', 'lock', 'lock-is-not-taken', "db.exec('BEGIN EXCLUSIVE')", "db.exec('BEGIN')", log),
  mutant('L12', 'sqliteLog', 'failed-open-keeps-the-lock', '    db?.close();\n    unlock();', '    db?.close();', log),
  mutant('L12', 'sqliteOwner', 'failed-connection-is-used-again', 'closeQuietly(this.#connection);\n    this.#connection = undefined;\n    return', 'if (this.#connection !== undefined) rollBack(this.#connection);\n    return', log), // prettier-ignore
  mutant('L12', 'sqliteOwner', 'unacknowledged-batch-stays', 'if (beyond.length > 0) connection.deleteAfter.run(this.acknowledged.position);', '', log), // prettier-ignore
  mutant('L12', 'sqliteOwner', 'row-of-another-is-taken-back', 'if (beyond.some((id) => !this.#doubtful.has(id)))', 'if (beyond.length < 0)', log), // prettier-ignore
  mutant('L12', 'sqliteOwner', 'log-may-end-elsewhere', 'if (expected !== undefined && (', 'if (expected === null && (', log), // prettier-ignore
  mutant('L12', 'sqliteOwner', 'wal-is-not-emptied-at-open', 'if (!emptyWal(connection))', 'if (connection === undefined)', log), // prettier-ignore
  mutant('L12', 'sqliteOwner', 'name-of-the-wal-may-vanish', '  syncFolder(dirname(path));\n}', '}', 'crash/crash'),
  mutant('L12', 'sqliteMigrate', 'migration-without-backup', 'pending.length < names.length ? backUp(db, path) : undefined', 'undefined as string | undefined', log), // prettier-ignore
  mutant('L12', 'sqliteMigrate', 'backup-over-a-backup', "openSync(path, 'wx', 0o600)", "openSync(path, 'w', 0o600)", log), // prettier-ignore
  mutant('L12', 'sqliteMigrate', 'half-a-migration-stays', "db.exec('rollback')", "db.exec('commit')", log),
  mutant('L12', 'sqliteConnection', 'newer-format-is-opened', 'if (format <= COMPACTED_FORMAT) return;', 'if (format > 0) return;', log), // prettier-ignore
  mutant('L12', 'sqliteConnection', 'journal-of-another-is-rolled-back', 'if (application !== 0 || size > PAGE_BYTES) throw foreign(path);', '', log), // prettier-ignore
  mutant('L12', 'sqliteMigrate', 'format-waits-in-the-wal', "  db.pragma('wal_checkpoint(TRUNCATE)');\n", '', log),
  mutant('L12', 'lines', 'export-replaces-whatever-is-there', 'if (!isReplaceable(there, first, there === partial)) throw', 'if (there === first.value) throw', logFile), // prettier-ignore
  mutant(
    'L12',
    'lines',
    'any-json-is-an-older-export',
    'const KIND_CHARACTERS = 12;',
    'const KIND_CHARACTERS = 2;',
    logFile,
  ),
  mutant('L12', 'sqliteMigrate', 'failed-migration-leaves-a-copy', '    if (backup !== undefined) rmSync(backup, { force: true });\n', '', log), // prettier-ignore
  mutant('L12', 'sqliteRewrite', 'evidence-is-sealed-first', '  const before = proven(file, proof);\n  while (seal(file));\n', '  while (seal(file));\n  const before = proven(file, proof);\n', compaction), // prettier-ignore

  // What is read is what was written, in the same order, and all of it.
  mutant('L13', 'verifiedRows', 'links-are-not-compared', 'if (link !== row[7])', 'if (row[7] === undefined)', log),
  mutant('L13', 'chain', 'links-stand-alone', '`dacapo ${previous} ${first} ${count}\\n${headers}`', '`dacapo ${GENESIS} ${first} ${count}\\n${headers}`', log, 'golden/golden'), // prettier-ignore
  mutant('L13', 'sqliteLog', 'last-of-one-id-counts', 'if (!fresh.has(event.id) && this.positionOf', 'if (this.positionOf', log), // prettier-ignore
  mutant('L13', 'sqliteReader', 'read-begins-one-late', 'if (raw.position >= from) yield', 'if (raw.position > from) yield', log), // prettier-ignore
  mutant('L13', 'sqliteReader', 'segments-are-read-unchecked', 'segment.last > end || !holds(segment)) return', 'segment.last > end) return', log), // prettier-ignore
  mutant('L13', 'sqliteReader', 'segment-of-another-log-is-read', 'return this.#pointBefore(segment.last + 1).link === segment.link ? segment : undefined;', 'return segment;', log), // prettier-ignore
  mutant('L13', 'sqliteReader', 'segment-goes-on-from-anywhere', 'if (segment?.before === point.link && segment.first === point.position + 1)', 'if (segment?.first === point.position + 1)', log), // prettier-ignore
  mutant(
    'L13',
    'verifiedRows',
    'what-lies-before-a-break-is-lost',
    '      broken = error;\n',
    '      throw error;\n',
    log,
  ),
  mutant('L13', 'verifiedRows', 'what-lies-beside-a-lost-page-is-lost', 'if (limit > 1 && error instanceof LogUnreadable)', 'if (limit < 1 && error instanceof LogUnreadable)', log), // prettier-ignore
  mutant('L13', 'sqliteReader', 'part-of-a-log-is-all-of-it', 'until === undefined ? this.head : this.endOf(until)', 'until === undefined ? this.head : this.head', logFile), // prettier-ignore
  mutant('L13', 'sqliteReader', 'verify-passes-segments-over', '      this.#verifySegments();\n', '', log),
  mutant('L13', 'sqliteReader', 'verify-passes-indexes-over', "const damage = this.damage('integrity_check');", 'const damage = null;', log), // prettier-ignore
  mutant('L13', 'sqlTexts.gen', 'marks-are-overwritten', '\\"stateHash\\") values (?, ?) on conflict do nothing', '\\"stateHash\\") values (?, ?) on conflict (position) do update set \\"stateHash\\" = excluded.\\"stateHash\\"', log), // prettier-ignore
  mutant('L13', 'sqliteCheckpoints', 'state-of-another-log-is-loaded', 'linkAt(connection, position) === link && ', '', checkpoints), // prettier-ignore
  mutant('L13', 'sqliteCheckpoints', 'damaged-state-is-loaded', ' && digestOf(bytes) === digest', '', checkpoints),
  mutant('L13', 'sqlTexts.gen', 'state-of-another-program-is-loaded', 'where \\"key\\" = ?', 'where \\"key\\" >= ?', checkpoints), // prettier-ignore
  mutant('L13', 'sqliteRewrite', 'compaction-is-not-proven', 'if (proven(file, proof) !== before)', "if (before === '')", compaction), // prettier-ignore
  mutant('L13', 'sqlitePacks', 'packs-are-not-compared-with-rows', 'isPackable(part) && isLike(connection, part)', 'isPackable(part)', compaction), // prettier-ignore
  mutant('L13', 'sqliteRewrite', 'compacted-in-the-old-format', 'if (length > 0) connection.db.pragma(`user_version = ${COMPACTED_FORMAT}`);', '', compaction), // prettier-ignore
  mutant('L13', 'sqliteMigrate', 'migration-lowers-the-format', "if (Number(db.pragma('user_version', { simple: true })) < format) db", 'db', compaction), // prettier-ignore
  mutant('L13', 'sqlitePacks', 'damaged-pack-is-written-back', "if (!holds(segment)) throw new BrokenChain(first, 'the pack is damaged');", '', compaction), // prettier-ignore
  mutant(
    'L13',
    'segmentBody',
    'payload-is-listed-as-json-would-write-it',
    ' || JSON.stringify(data) !== payload',
    '',
    body,
  ),
  mutant('L13', 'segmentBody', 'listed-member-is-lost-by-its-name', 'Object.fromEntries(places)', 'Object.assign({}, ...places.map(([at, place]) => ({ [at as string]: place })))', body), // prettier-ignore
  mutant('L13', 'segmentBody', 'times-of-a-segment-do-not-add-up', 'at += later[index]!', 'at = later[index]!', body),
  mutant('L13', 'fileBatch', 'link-of-a-file-is-not-compared', "headers.join('')) !== link)", "headers.join('')) === '')", logFile), // prettier-ignore
  mutant('L13', 'fileBatch', 'payload-of-a-file-is-not-compared', 'if (payloadHash !== null && payloadHash !== hash)', "if (payloadHash === '')", logFile), // prettier-ignore
  mutant('L13', 'fileBatch', 'file-may-end-early', 'if (head !== undefined && head !== this.#next - 1)', 'if (head === -1)', logFile), // prettier-ignore
  mutant('L13', 'fileBatch', 'file-may-end-within-a-batch', 'if (this.events.length > 0) throw', 'if (this.#first < 0) throw', logFile), // prettier-ignore

  // What is to be forgotten is gone, and what is handed over names nobody.
  mutant('L16', 'sqliteConnection', 'forgotten-bytes-stay', "db.pragma('secure_delete = ON')", "db.pragma('secure_delete = OFF')", log), // prettier-ignore
  mutant('L16', 'sqliteRewrite', 'redacted-payload-stays-in-its-segment', 'if (segment !== undefined) dropSegment(connection, segment);', '', log), // prettier-ignore
  mutant('L16', 'sqliteRewrite', 'redacted-payload-stays-in-its-pack', '  connection.deleteParts.run(segment.first);\n', '', compaction), // prettier-ignore
  mutant('L16', 'sqliteRewrite', 'redacted-payload-stays-in-the-wal', 'connection.commit.run();\n    return emptyWal(connection);', 'connection.commit.run();\n    return true;', log), // prettier-ignore
  mutant('L16', 'sqliteRewrite', 'redaction-beside-a-reader-is-unsaid', 'commit.run();\n    return emptyWal(connection);', 'commit.run();\n    emptyWal(connection);\n    return true;', log), // prettier-ignore
  mutant('L16', 'sqliteRewrite', 'redacted-payload-stays-in-a-state', '    dropCheckpoints(connection);\n', '', checkpoints), // prettier-ignore
  mutant('L16', 'sqliteRewrite', 'damage-elsewhere-keeps-a-payload', 'if (error instanceof BrokenChain) return undefined;', '', compaction), // prettier-ignore
  mutant('L16', 'sqliteRewrite', 'copy-that-nobody-claims-keeps-a-payload', '    dropUnclaimed(file, connection, position);\n', '', compaction), // prettier-ignore
  mutant('L12', 'sqliteRewrite', 'redaction-takes-the-neighbour-along', '  if (segment?.first === first && holds(segment)) return;\n', '', compaction), // prettier-ignore
  mutant('L12', 'sqlTexts.gen', 'damaged-pack-is-no-evidence', 'delete from \\"segmentParts\\" where \\"segment\\" = ? and \\"packed\\" is null', 'delete from \\"segmentParts\\" where \\"segment\\" = ?', compaction), // prettier-ignore
  mutant('L16', 'sqliteLog', 'state-that-knew-a-payload-is-put-by', '    if (this.#hasForgotten) return;\n', '', checkpoints), // prettier-ignore
  mutant('L16', 'exportLog', 'redacted-file-keeps-the-salt', '...(!redacted && { salt: log.salt })', 'salt: log.salt', logFile), // prettier-ignore
  mutant('L16', 'exportLog', 'newer-payload-is-redacted-as-todays', "schema <= SCHEMA ? type : ''", 'schema > 0 ? type : type', logFile), // prettier-ignore
  mutant('L16', 'redact', 'unknown-payload-is-handed-over', ': onlyConnector(data));', ': (walk(data) as Json));', logFile), // prettier-ignore
  mutant('L16', 'redact', 'free-text-names-accounts', 'TEXTS.has(name) ? withoutMentions', "name === '' ? withoutMentions", logFile), // prettier-ignore
  mutant('L16', 'redact', 'first-mention-alone-goes', "'gu')", "'u')", logFile),
  mutant('L16', 'redact', 'account-read-as-a-pattern', "name.replace(/[.*+?^${}()|[\\]\\\\]/g, '\\\\$&')", 'name', logFile), // prettier-ignore
  mutant('L16', 'storeFile', 'file-stays-open-to-others', 'if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);', '', log), // prettier-ignore
  mutant('L16', 'storeFile', 'wal-through-a-link', "for (const suffix of ['', '-wal', '-shm', '.lock'])", "for (const suffix of [''])", log), // prettier-ignore
];
