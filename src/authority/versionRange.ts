/** Whether a release's version lies in a range, by the precedence of SemVer 2.0. What can't be read lies in none. */
export interface VersionRange {
  /** The first version inside. */
  readonly from: string;
  /** The first one outside again; `null` for no end. Its own pre-releases are outside too. */
  readonly before: string | null;
}

interface Version {
  readonly numbers: readonly number[];
  readonly pre: readonly string[];
}

const shape = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]{1,64})?$/;

const read = (text: string): Version | undefined => {
  const found = shape.exec(text);
  return found === null ? undefined : { numbers: found.slice(1, 4).map(Number), pre: found[4]?.split('.') ?? [] };
};

const comparePart = (a: string, b: string): number => {
  const [numberA, numberB] = [a, b].map((part) => (/^\d+$/.test(part) ? Number(part) : undefined));
  if (numberA !== undefined && numberB !== undefined) return numberA - numberB;
  if (numberA !== undefined) return -1;
  if (numberB !== undefined) return 1;
  return a < b ? -1 : a > b ? 1 : 0;
};

const compareNumbers = (a: Version, b: Version): number => {
  const at = a.numbers.findIndex((number, index) => number !== b.numbers[index]);
  return at === -1 ? 0 : (a.numbers[at] ?? 0) - (b.numbers[at] ?? 0);
};

const compare = (a: Version, b: Version): number => {
  const numbers = compareNumbers(a, b);
  if (numbers !== 0) return numbers;
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length;
  const parts = a.pre.map((part, index) => (b.pre[index] === undefined ? 1 : comparePart(part, b.pre[index])));
  return parts.find((part) => part !== 0) ?? a.pre.length - b.pre.length;
};

export const versionWithin = (version: string, range: VersionRange): boolean => {
  const given = read(version);
  const from = read(range.from);
  if (given === undefined || from === undefined || compare(given, from) < 0) return false;
  if (range.before === null) return true;
  const before = read(range.before);
  return before !== undefined && compareNumbers(given, before) < 0;
};
