/**
 * `npm run proof [-- SECTION …]`: the long form of the proof, section by section, with a table at the end; `--short` is what each commit
 * pays for. Exits 1 when a section failed, 2 for one that is not there, or has no short form.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { sections } from './proofSections.ts';

const root = join(import.meta.dirname, '..');
const LIMIT_MS = 1_200_000;
const PROGRESS_MS = 30_000;

interface Done {
  readonly section: string;
  readonly command: string;
  readonly seconds: number;
  readonly isGood: boolean;
}

async function run(
  section: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Done> {
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  const command = `node ${args.join(' ')}`;
  process.stderr.write(`== ${section}: ${command}\n`);
  const tell = (): void => void process.stderr.write(`   ${section}: ${seconds().toFixed(0)} s\n`);
  const progress = setInterval(tell, PROGRESS_MS);
  const isGood = await succeeds(args, env);
  clearInterval(progress);
  return { section, command, seconds: seconds(), isGood };
}

/** Its output is ours. What it started ends with it, as it leads a group of its own: at the limit, and when somebody stops us. */
async function succeeds(args: readonly string[], env: Readonly<Record<string, string>>): Promise<boolean> {
  const options = { cwd: root, env: { ...process.env, ...env }, detached: true } as const;
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] });
  const end = (): boolean => process.kill(-child.pid!, 'SIGTERM');
  const stop = (): void => {
    end();
    process.exit(130);
  };
  const limit = setTimeout(end, LIMIT_MS);
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(limit);
  process.off('SIGINT', stop).off('SIGTERM', stop);
  return code === 0;
}

function table(done: readonly Done[]): string {
  const rows = done.map(({ section, command, seconds, isGood }) =>
    [section.padEnd(11), isGood ? 'passed' : 'failed', `${seconds.toFixed(0)} s`.padStart(7), command].join('  '),
  );
  const failed = done.filter(({ isGood }) => !isGood).length;
  return [...rows, `${String(done.length - failed)} passed, ${String(failed)} failed`].join('\n');
}

async function main(args: readonly string[]): Promise<number> {
  const [isShort, names] = [args.includes('--short'), args.filter((arg) => arg !== '--short')];
  const there = sections.filter(({ short }) => !isShort || short !== undefined);
  const known = there.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const what = isShort ? 'no section with a short form' : 'no section';
    process.stderr.write(`${what} is called ${unknown.join(', ')}; there are: ${known.join(', ')}\n`);
    return 2;
  }
  const done = [await run('build', ['scripts/build.mjs'])];
  for (const { name, long, short, env } of there)
    if (names.length === 0 || names.includes(name)) done.push(await run(name, isShort ? short! : long, env));
  process.stdout.write(`\n${table(done)}\n`);
  return done.every(({ isGood }) => isGood) ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
