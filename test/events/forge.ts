/** A log that was changed by somebody who knows its salt: other payloads, and the links that they would have. */
import { GENESIS, hashPayload, headerOf, linkOf, type LogRow } from '../../src/events/chain.ts';
import { openDatabase } from '../../src/events/sqliteConnection.ts';

/** Writes `payload` at `position`, and the links of all rows up to `last`; `rows` are those of the log as it was. */
export function forge(
  { path, salt, rows }: { readonly path: string; readonly salt: string; readonly rows: readonly LogRow[] },
  position: number,
  payload: string,
  last = Infinity,
): void {
  const db = openDatabase(path, 'owner');
  const relink = db.prepare('update events set link = ? where position = ?');
  db.prepare('update events set payload = ? where position = ?').run(payload, position);
  let [link, headers, first] = [GENESIS, '', 1];
  for (const row of rows.filter(({ position: at }) => at <= last)) {
    const hash = row.position === position ? hashPayload(salt, payload) : row.payloadHash;
    headers += headerOf(row.id, row.at, row.cause, row.type, row.schema, row.rules, hash);
    if (row.link === null) continue;
    link = linkOf(link, first, row.position - first + 1, headers);
    relink.run(link, row.position);
    [headers, first] = ['', row.position + 1];
  }
  db.close();
}
