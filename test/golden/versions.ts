/**
 * Golden logs on other versions of Node: `node --import tsx test/golden/versions.ts`. Each is fetched by npx and plays the JSON lines in
 * a process that loads no database; all must come to what this one comes to.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

const VERSIONS = [20, 22, 24];
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|proxy/i;

const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.jsonl'));
const play = [
  '--import',
  'tsx',
  join(import.meta.dirname, 'play.ts'),
  ...files.map((name) => join(import.meta.dirname, name)),
];

interface Played {
  readonly played: readonly { readonly events: number; readonly divergence: unknown }[];
  readonly databases: readonly string[];
  readonly node: string;
}

/** What a version came to, or why it could not be asked. *Errors*: what it printed, when it failed. */
function playedBy(command: string, ...args: readonly string[]): Played | string {
  const { status, stdout, stderr } = spawnSync(command, [...args, ...play], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status === 0) return JSON.parse(stdout) as Played;
  if (UNREACHABLE.test(stderr)) return 'the registry cannot be reached';
  throw new Error(stderr);
}

function verdict(version: number, here: Played): boolean {
  const there = playedBy('npx', '-y', '-p', `node@${String(version)}`, 'node');
  if (typeof there === 'string') return say(`skipped  Node ${String(version)}: ${there}`, true);
  const isAsked = there.node.startsWith(`v${String(version)}.`);
  const isGood = isAsked && isDeepStrictEqual(there.played, here.played) && there.databases.length === 0;
  const events = there.played.reduce((sum, one) => sum + one.events, 0);
  const counts = `${String(files.length)} logs, ${String(events)} events, ${String(there.databases.length)} databases`;
  return say(`${isGood ? 'passed ' : 'FAILED '}  Node ${there.node}: ${counts}`, isGood);
}

function say(text: string, isGood: boolean): boolean {
  process.stdout.write(`${text}\n`);
  return isGood;
}

const here = playedBy(process.execPath) as Played;
const verdicts = VERSIONS.map((version) => verdict(version, here));
const isWhole = here.played.length > 0 && here.played.every(({ divergence }) => divergence === null);
process.exitCode = isWhole && verdicts.every(Boolean) ? 0 : 1;
