import { openSqliteLogReadOnly } from '../../events/index.ts';
import { EXIT } from '../exit.ts';
import { pathsOf } from '../paths.ts';
import type { Run } from '../program.ts';

/** Reads the whole log beside its owner and recomputes the chain. */
export const run: Run = async ({ options, output }) => {
  const { log } = pathsOf(process.env, options.state);
  const reader = await openSqliteLogReadOnly(log);
  const report = reader.verify();
  reader.close();
  const { events, head, batches, link, broken } = report;
  output.result({ events, head, batches, link, broken }, () =>
    broken === null
      ? `${String(events)} events in ${String(batches)} batches hold, up to link ${link}`
      : `the log breaks at position ${String(broken.position)}: ${broken.reason}`,
  );
  return broken === null ? EXIT.ok : EXIT.problems;
};
