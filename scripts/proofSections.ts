/** The sections of the proof: what Node runs for each in the long form and, where `npm test` does not have it already, in the short one. */
export interface Section {
  readonly name: string;
  readonly long: readonly string[];
  readonly short?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const dacapo = 'dist/cli/main.js';
const script = ['--import', 'tsx'];
const tests = ['node_modules/vitest/vitest.mjs', 'run'];
const env = { DACAPO_LONG: '1' };
/** One of who may see, one of what was read, one of whom to believe. */
const quickMutants = ['routes-of-any-account', 'unread-routes-are-wanted', 'adopts-at-the-second-dissent'];

export const sections: readonly Section[] = [
  { name: 'prove', long: [dacapo, 'prove'], short: [dacapo, 'prove', '--set', 'short'] },
  {
    name: 'simulate',
    long: [dacapo, 'simulate', '--seed', '1', '--runs', '20000'],
    short: [dacapo, 'simulate', '--seed', '1', '--runs', '1000'],
  },
  { name: 'oracle', long: [...tests, 'test/machines/oracle.test.ts'], env },
  {
    name: 'mutants',
    long: [...script, 'scripts/mutants.ts', 'core'],
    short: [...script, 'scripts/mutants.ts', ...quickMutants],
  },
  { name: 'logMutants', long: [...script, 'scripts/mutants.ts', 'log'] },
  { name: 'wireMutants', long: [...script, 'scripts/mutants.ts', 'wire'] },
  { name: 'kills', long: [...script, 'test/crash/run.ts', '--long', 'kills'] },
  { name: 'cuts', long: [...script, 'test/crash/run.ts', '--long', 'cuts'] },
  { name: 'damage', long: [...script, 'test/crash/run.ts', '--long', 'damage'] },
  { name: 'golden', long: [...script, 'test/golden/versions.ts'] },
  { name: 'wire', long: [...tests, 'test/wire/hostile.test.ts', 'test/wire/crossings.test.ts'], env },
];
