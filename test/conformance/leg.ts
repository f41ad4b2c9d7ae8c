/** Runs one leg and judges what the suite wrote: passed, excluded with a reason, or failed. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { extension, type ClientLeg, type Leg, type ServerLeg } from './legs.ts';
import { runSuite, type Check, type SuiteRun } from './suite.ts';

export interface LegResult {
  readonly passed: number;
  /** Checks that failed and are not excluded, exclusions that are stale, scenarios that did not run. */
  readonly failed: number;
  readonly summary: string;
  /** A line for each scenario that was asked for, and for each thing that failed. */
  readonly told: readonly string[];
}

export function runLeg(leg: Leg): Promise<LegResult> {
  return leg.side === 'client' ? clientLeg(leg) : serverLeg(leg);
}

async function clientLeg({ scenarios, revision }: ClientLeg): Promise<LegResult> {
  return judge(await runClient('client.ts', scenarios, revision), scenarios, new Set());
}

/** Runs a program of this folder, as a client, through scenarios; what the suite wrote about all of them. */
export async function runClient(program: string, scenarios: readonly string[], revision: string): Promise<SuiteRun> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const command = `${process.execPath} --import ${import.meta.resolve('tsx')} ${path}`;
  const checks = new Map<string, readonly Check[]>();
  let [exitCode, stdout] = [0, ''];
  for (const scenario of scenarios) {
    const run = await runSuite('client', ['--command', command, '--scenario', scenario, '--spec-version', revision]);
    for (const [name, list] of run.checks) checks.set(name, list);
    exitCode ||= run.exitCode;
    stdout += run.stdout;
  }
  return { exitCode, stdout, checks };
}

async function serverLeg({ open, revision, required, expectedFailures }: ServerLeg): Promise<LegResult> {
  const file = fileURLToPath(new URL(expectedFailures, import.meta.url));
  const served = await open();
  try {
    const args = ['--url', served.url, '--requirements', revision, '--expected-failures', file];
    return judge(await runSuite('server', args), required, excludedIn(file));
  } finally {
    await served.close();
  }
}

/** `scenario` or `scenario:check`, as the suite reads them. */
function excludedIn(file: string): ReadonlySet<string> {
  return new Set((parse(readFileSync(file, 'utf8')) as { server: string[] }).server);
}

interface Judged {
  readonly scenario: string;
  readonly passed: number;
  readonly excluded: number;
  readonly failures: readonly string[];
}

function judge(run: SuiteRun, required: readonly string[], excluded: ReadonlySet<string>): LegResult {
  const core = [...run.checks].filter(([scenario]) => !extension.test(scenario));
  const judged = core.map(([scenario, checks]) => judgeScenario(scenario, checks, excluded));
  const counted = judged.filter(({ scenario }) => required.includes(scenario) || !PENDING.has(scenario));
  const absent = required.filter((scenario) => !run.checks.has(scenario)).map((name) => `${name}: did not run`);
  const failures = [...counted.flatMap((one) => one.failures), ...absent, ...staleIn(run.stdout)];
  if (run.exitCode !== 0 && failures.length === 0) failures.push(`the suite ended with ${run.exitCode}`);
  const passed = total(counted, 'passed');
  const asked = counted.filter(({ scenario }) => required.includes(scenario));
  const told = asked.map(({ scenario, passed: clean }) => `${scenario}: ${clean} passed`);
  const summary = `${passed} passed, ${failures.length} failed, ${total(counted, 'excluded')} excluded, in ${counted.length} scenarios${ownTotal(run.stdout)}`;
  return { passed, failed: failures.length, summary, told: [...told, ...failures.map((line) => `FAILED ${line}`)] };
}

/** Run with every set and scored in none: counted only where they are asked for. */
const PENDING: ReadonlySet<string> = new Set([
  'json-schema-2020-12',
  'http-header-validation',
  'http-custom-header-server-validation',
  'server-session-lifecycle',
  'server-sse-polling',
]);

function judgeScenario(scenario: string, checks: readonly Check[], excluded: ReadonlySet<string>): Judged {
  const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  const unexpected = bad.filter(({ id }) => !excluded.has(scenario) && !excluded.has(`${scenario}:${id}`));
  return {
    scenario,
    passed: checks.filter(({ status }) => status === 'SUCCESS').length,
    excluded: bad.length - unexpected.length,
    failures: unexpected.map(({ id, errorMessage }) => `${scenario}:${id}: ${errorMessage ?? ''}`),
  };
}

const total = (judged: readonly Judged[], what: 'passed' | 'excluded'): number =>
  judged.reduce((sum, one) => sum + one[what], 0);

/** Exclusions that are none any more, as the suite tells them. */
function staleIn(stdout: string): readonly string[] {
  const [, after = ''] = plain(stdout).split('Stale baseline entries');
  return after
    .split('\n')
    .filter((line) => line.startsWith('  ✓ '))
    .map((line) => `stale exclusion: ${line.slice(4)}`);
}

function ownTotal(stdout: string): string {
  const line = /^Total: .*$/m.exec(plain(stdout))?.[0];
  return line === undefined ? '' : ` (the suite, with excluded and extensions: ${line.slice(7)})`;
}

const plain = (text: string): string => text.replace(/\u001b\[[0-9;]*m/g, '');
