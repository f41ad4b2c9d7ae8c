/** Corpora of bad input, read from the folder named by DACAPO_CORPORA; without it there are none, and the tests say so. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const corpora = process.env['DACAPO_CORPORA'];

export interface CorpusFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The files of a folder of the corpora; none when there are no corpora. */
export function corpusFiles(...folder: readonly string[]): readonly CorpusFile[] {
  if (corpora === undefined) return [];
  const path = join(corpora, ...folder);
  const names = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isFile());
  return names.map(({ name }) => ({ name, bytes: readFileSync(join(path, name)) }));
}

/** The naughty strings; a few of our own when there are no corpora. */
export function naughtyStrings(): readonly string[] {
  const own = [
    '',
    ' ',
    '\t',
    'a b',
    ' a',
    'é',
    '\u0000',
    '\r\n',
    '=?base64?',
    '=?base64?YQ==?=',
    '__proto__',
    '𝕏',
    '\u202e',
    '💥',
  ];
  const file = corpusFiles('strings').find(({ name }) => name === 'blns.json');
  return [...own, ...(file === undefined ? [] : (JSON.parse(file.bytes.toString('utf8')) as string[]))];
}
