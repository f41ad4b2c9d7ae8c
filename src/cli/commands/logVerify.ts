import { openSqliteLogReadOnly, type LogReport } from '../../events/index.ts';
import { EXIT } from '../exit.ts';
import { namedLog } from '../logFile.ts';
import { pathsOf } from '../paths.ts';
import type { CommonOptions, Run } from '../program.ts';

interface Verified {
  readonly report: LogReport;
  /** The chain then binds the hashes of the original payloads, and not the texts that stand there. */
  readonly redacted: boolean;
}

/** Recomputes the chain: of the whole log beside its owner, or of an exported one. */
export const run: Run<CommonOptions, [string | undefined]> = async ({ options, output }, file) => {
  const { report, redacted } = file === undefined ? await verifyOwn(options) : verifyNamed(file);
  const { events, head, batches, link, broken } = report;
  const but = redacted ? '; redacted, so that no payload is bound by it' : '';
  output.result({ events, head, batches, link, broken }, () =>
    broken === null
      ? `${String(events)} events in ${String(batches)} batches hold, up to link ${link}${but}`
      : `the log breaks at position ${String(broken.position)}: ${broken.reason}\n  next: ${nextStep(report, file)}`,
  );
  return broken === null ? EXIT.ok : EXIT.problems;
};

/** What holds is taken along, or played, to the last whole batch. */
function nextStep({ head, broken }: LogReport, file: string | undefined): string {
  const before = (broken?.position ?? 1) - 1;
  if (file !== undefined)
    return `export the log again${head === 0 ? '' : `; \`dacapo replay ${file} --until ${String(head)}\` plays what holds`}`;
  return `keep it for the incident${before === 0 ? '' : `; \`dacapo log export FILE --until ${String(before)}\` takes what holds`}`;
}

async function verifyOwn(options: CommonOptions): Promise<Verified> {
  const reader = await openSqliteLogReadOnly(pathsOf(process.env, options.state).log);
  const report = reader.verify();
  reader.close();
  return { report, redacted: false };
}

function verifyNamed(path: string): Verified {
  const log = namedLog(path);
  return { report: log.verify(), redacted: log.header.redacted === true };
}
