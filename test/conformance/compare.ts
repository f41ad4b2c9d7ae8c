/**
 * The official client and server 2.4.0 themselves against the suite, scenario by scenario, beside what our legs are asked for: the
 * figures of docs/CONFORMANCE.md. It judges nothing; `run.ts` does.
 */
import { runClient } from './leg.ts';
import { legs } from './legs.ts';
import { openOfficial } from './servers.ts';
import { runSuite, type Check } from './suite.ts';

for (const leg of legs) {
  if (leg.side !== 'client') continue;
  const { checks } = await runClient('officialClient.ts', leg.scenarios, leg.revision);
  for (const scenario of leg.scenarios) print(`client ${leg.revision}`, scenario, checks.get(scenario) ?? []);
}

for (const revision of ['2026-07-28', '2025-11-25']) {
  const asked = legs.flatMap((leg) => (leg.side === 'server' && leg.revision === revision ? leg.required : []));
  const served = await openOfficial('stateless');
  const { checks } = await runSuite('server', ['--url', served.url, '--requirements', revision]);
  await served.close();
  for (const scenario of new Set(asked)) print(revision, scenario, checks.get(scenario) ?? []);
}

function print(revision: string, scenario: string, checks: readonly Check[]): void {
  const count = (...statuses: readonly Check['status'][]): number =>
    checks.filter(({ status }) => statuses.includes(status)).length;
  const [passed, failed, skipped] = [count('SUCCESS'), count('FAILURE', 'WARNING'), count('SKIPPED')];
  process.stdout.write(`${revision} ${scenario}: ${passed} passed, ${failed} failed, ${skipped} skipped\n`);
}
