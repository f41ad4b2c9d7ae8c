/** The package as others see it: the curated door, and the example that walks through it. */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as dacapo from '../../src/index.ts';
import { plainHost, simulate } from '../../src/simulate/index.ts';
import { root } from './syntax.ts';

const example = join(root, 'examples/embed.ts');
const inTheStorm = join(root, 'examples/simulate.ts');

const embed = (...args: readonly string[]): ReturnType<typeof runExample> => runExample(example, args);

/** Runs an example to its end. */
function runExample(
  program: string,
  args: readonly string[] = [],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], { cwd: root, timeout: 60_000 });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => (text[name] += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      resolve({ code, ...text });
    });
  });
}

test('the example has at most forty lines and uses the curated door alone', () => {
  const text = readFileSync(example, 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  expect([...text.matchAll(/from '(.*)'/g)].map(([, from]) => from).filter((from) => from?.startsWith('.'))).toEqual([
    '../src/index.ts',
  ]);
});

const said = /^ann\/docs: 3 tools\ndocs is published\. Since event (\d+) at .*Z: docs was opened with 3 tools\n$/;

test('the example runs in memory', { timeout: 60_000 }, async () => {
  const { code, stdout, stderr } = await embed();
  expect([code, stderr]).toEqual([0, '']);
  expect(said.exec(stdout)?.[1]).toBe('5');
});

test('the example runs on a log on disk, and goes on where it ended', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dacapo-embed-'));
  const first = await embed(join(folder, 'log.sqlite'));
  const second = await embed(join(folder, 'log.sqlite'));
  expect([first, second].map(({ stdout }) => said.exec(stdout)?.[1])).toEqual(['5', '10']);
  rmSync(folder, { recursive: true });
});

test('the example of a host in the storm has at most thirty lines, and its worlds hold the laws', async () => {
  expect(readFileSync(inTheStorm, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(30);
  const { code, stdout, stderr } = await runExample(inTheStorm, ['1', '40']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^\d{4} events, 0 findings, 0 did not converge\n$/);
});

test('a host that keeps an outcome to itself is found by the storm', async () => {
  const { nonConverged, findings } = await simulate({
    ...{ seed: 1, runs: 20 },
    host: (outside) => {
      const perform = plainHost(outside);
      return (effect, context) =>
        effect.kind === 'openRoute' ? new Promise(() => undefined) : perform(effect, context);
    },
  });
  expect(nonConverged).toBeGreaterThan(0);
  expect(findings.map(({ law }) => law)).toContain('L9');
});

test('the curated door is these names, and losing one is a breaking change', () => {
  expect(Object.keys(dacapo).sort()).toMatchInlineSnapshot(`
    [
      "BadEvent",
      "BrokenChain",
      "LogConflict",
      "LogFileError",
      "LogOutdated",
      "LogUnavailable",
      "LogUnreadable",
      "accountTable",
      "exportLines",
      "matrixOf",
      "memoryLog",
      "mermaidOf",
      "openLogFile",
      "openReconciler",
      "openSqliteLog",
      "openSqliteLogReadOnly",
      "parseFact",
      "parseUint64",
      "reasons",
      "replay",
      "routeTable",
      "systemEdge",
      "transcript",
      "uint64",
      "whyFrom",
      "writeLines",
    ]
  `);
});
