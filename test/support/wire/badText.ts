/**
 * Bad JSON messages without end, made from good ones: bytes changed, cut or repeated; a value, a name or a member put in that no
 * reader expects; the whole wrapped or encoded otherwise. With corpora their files are put in too.
 */
import { corpusFiles, naughtyStrings } from '../protocol/corpora.ts';
import { Random } from './random.ts';

type Path = readonly (string | number)[];

const deep = (depth: number, open: string, close: string): string => open.repeat(depth) + '1' + close.repeat(depth);

/** JSON texts, and texts that are none, for the place of a value. */
const fragments: readonly string[] = [
  ...['null', 'true', 'false', '-0', '0', '-1', '1.5', '1e2', '1e999', '-1e-999', '9007199254740993', '01', '+1', '.5'],
  ...['18446744073709551616', '123456789012345678901234567890', 'NaN', 'Infinity', 'undefined', "'x'", '`x`', ',', ''],
  ...['""', '" "', '"\\u0000"', '"\\ud800"', '"\\udc00x"', '"\n"', '"\\x"', '"unended', '"\\u202e"', '"=?base64?YQ?="'],
  ...['[]', '{}', '[[]]', '[null]', '{"":""}', '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"a" 1}', '[1,]', '{"a":1,}'],
  ...[
    '{"__proto__":{"polluted":1}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"toString":1,"hasOwnProperty":0}',
  ],
  ...['"2025-11-25"', '"2099-01-01"', '"initialize"', '"tools/list"', '"../../etc"', '"__proto__"', '"constructor"'],
  ...[deep(63, '[', ']'), deep(65, '[', ']'), deep(65, '{"a":', '}'), deep(5_000, '[', ']'), '['.repeat(20_000)],
  ...[`"${'x'.repeat(129)}"`, `"${'é'.repeat(9_000)}"`, `"${'\\u0041'.repeat(4_000)}"`],
  ...naughtyStrings().map((text) => JSON.stringify(text)),
];

const names: readonly string[] = [
  ...['__proto__', 'constructor', 'prototype', 'toString', '', 'id', 'ID', 'Method', 'jsonrpc', 'result', 'error'],
  ...['params', '_meta', 'name', 'arguments', 'progressToken', 'cursor', 'nextCursor', '\u0000', 'x'.repeat(300)],
];

export class BadTexts {
  readonly #random: Random;
  readonly #good: readonly { readonly value: unknown; readonly text: string; readonly paths: readonly Path[] }[];
  readonly #fragments: readonly string[];

  /** `good`: messages to start from, as JSON values. */
  constructor(seed: number, good: readonly unknown[]) {
    this.#random = new Random(seed);
    this.#good = good.map((value) => ({ value, text: JSON.stringify(value), paths: [...pathsOf(value)] }));
    // Read as they are: what is no UTF-8 becomes another bad text.
    const files = corpusFiles('json', 'test_parsing').filter(({ bytes }) => bytes.length < 4_096);
    this.#fragments = [...fragments, ...files.map(({ bytes }) => bytes.toString('latin1'))];
  }

  next(): Buffer {
    const random = this.#random;
    const { value, text, paths } = random.pick(this.#good);
    switch (random.below(10)) {
      case 0:
      case 1:
      case 2:
        return edited(random, Buffer.from(text), 1 + random.below(4));
      case 3:
        return Buffer.from(text).subarray(0, random.below(text.length));
      case 4:
        return wrapped(random, text);
      case 5:
        return Buffer.from(rewritten(value, random.pick(paths), this.#member(random)));
      default:
        return Buffer.from(rewritten(value, random.pick(paths), random.pick(this.#fragments)));
    }
  }

  /** An object with a member of any name, for the place of a value. */
  #member(random: Random): string {
    const one = `${JSON.stringify(random.pick(names))}:${random.pick(this.#fragments)}`;
    return `{${one},${JSON.stringify(random.pick(names))}:${random.below(1_000_000)}}`;
  }
}

/** Bytes put in, taken out, or put in place of others. */
export function edited(random: Random, bytes: Buffer, edits: number): Buffer {
  let body = bytes;
  for (let n = 0; n < edits; n++) {
    const at = random.below(body.length + 1);
    body = Buffer.concat([body.subarray(0, at), random.bytes(random.below(4)), body.subarray(at + random.below(5))]);
  }
  return body;
}

function wrapped(random: Random, text: string): Buffer {
  const number = random.below(1_000_000_000);
  switch (random.below(7)) {
    case 0:
      return Buffer.from(`[${text},${number}]`);
    case 1:
      return Buffer.from(`${text}${text}${number}`);
    case 2:
      return Buffer.from(`\ufeff${' '.repeat(number % 97)}${text}${'\n'.repeat(number % 89)}`);
    case 3:
      return Buffer.from(`${text}${number}`, 'utf16le');
    case 4:
      return Buffer.from(`${text.slice(0, -1)},"n${number}":${number}}`);
    case 5:
      return Buffer.from(`/* ${number} */${text}`);
    default:
      return Buffer.concat([Buffer.from(text), random.bytes(1 + (number % 16))]);
  }
}

function* pathsOf(value: unknown, at: Path = []): Generator<Path> {
  yield at;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) yield* pathsOf(child, [...at, key]);
}

/** The JSON text of a value with one place filled by a text of any kind. */
function rewritten(value: unknown, path: Path, fragment: string): string {
  const [step, ...rest] = path;
  if (step === undefined) return fragment;
  const child = (key: string, inner: unknown): string =>
    key === step ? rewritten(inner, rest, fragment) : JSON.stringify(inner);
  const entries = Object.entries(value as object);
  if (Array.isArray(value)) return `[${entries.map(([key, inner]) => child(key, inner)).join(',')}]`;
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${child(key, inner)}`).join(',')}}`;
}
