/**
 * docs/MUTANTS.md: every mutant of all lists and what must notice it; of those of core and log also what did, when it was last tried.
 * Written by `npm run mutants -- --write`; test/structure holds its rows against the lists.
 */
import { mutants, type Mutant } from './mutantsOfCore.ts';
import { logMutants } from './mutantsOfLog.ts';
import { wireMutants } from './mutantsOfWire.ts';

export const TABLE = 'docs/MUTANTS.md';

const INTRODUCTION = `# Mutants

One-line bugs, each put alone into a copy of the sources. A bug that nothing notices has found a hole in the tests, not in the code.
\`npm run mutants\` tries all of them, \`npm run mutants -- NAME\` one, \`npm run mutants -- core\`, \`log\` or \`wire\` one list; a survivor
fails. With \`--write\` this page is written anew; a test holds its rows against \`scripts/mutantsOfCore.ts\`, \`mutantsOfLog.ts\` and
\`mutantsOfWire.ts\`.

## Core

*Steps* is the length of the shortest history that breaks the law, as the exhaustive walk of a small world found it; *seed N at event M*
is where a simulated world met it. A name of a test: no world has what the mutant breaks. Laws that are broken besides are named too.

| mutant | in src/ | law | killed by |
| --- | --- | --- | --- |
`;

const LOG = `
## Log

Bugs of the log on disk and of the files it leaves in: no world has a disk, so each is noticed by a test.

| mutant | in src/ | law | killed by |
| --- | --- | --- | --- |
`;

const WIRE = `
## Wire

| mutant | in src/ | a test must notice it in |
| --- | --- | --- |
`;

/** The page with what was found now, by mutant; of the others, what an earlier page says. */
export function tableWith(before: string, found: ReadonlyMap<string, string>): string {
  const known = foundIn(before);
  const by = (name: string): string => found.get(name) ?? known.get(name) ?? 'not tried yet';
  const withLaw = (list: readonly Pick<Mutant, 'name' | 'file' | 'law'>[]): readonly string[] =>
    list.map(({ name, file, law }) => row(name, file, law, by(name)));
  const wire = wireMutants.map(({ name, file, tests }) => row(name, file, tests.join(', ')));
  return [INTRODUCTION, ...withLaw(mutants), LOG, ...withLaw(logMutants), WIRE, ...wire].join('');
}

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;

/** The last cell of every row of a page, by the first. */
export function foundIn(page: string): ReadonlyMap<string, string> {
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  return new Map(rows.map((line) => line.slice(2, -2).split(' | ')).map((cells) => [cells[0]!, cells.at(-1)!]));
}
