/**
 * `npm run conformance`: the official suite against our client, the gateway's door and the local server in both eras, one leg after
 * the other, on loopback. The counts are the suite's own; the last line is `N passed, N failed`. Exit 1 when anything failed that is
 * not excluded, or an exclusion is stale.
 */
import { runLeg, type LegResult } from './leg.ts';
import { legs } from './legs.ts';
import { suiteVersion } from './suite.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

print(`@modelcontextprotocol/conformance ${suiteVersion}`);
const results: LegResult[] = [];
for (const leg of legs) {
  const result = await runLeg(leg);
  results.push(result);
  print(`${leg.title} ${leg.revision}: ${result.summary}`);
  for (const line of result.told) print(`  ${line}`);
}
const sum = (count: (result: LegResult) => number): number => results.reduce((total, one) => total + count(one), 0);
print(`${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed`);
process.exitCode = results.every(({ failed }) => failed === 0) ? 0 : 1;
