/**
 * HTTP requests that RFC 9112 does not know, as bytes: written line by line from its rules (request line, field lines, body length),
 * and then changed byte by byte.
 */
import { edited } from './badText.ts';
import { Random } from './random.ts';

/** A good request in its parts. */
export interface GoodRequest {
  readonly path: string;
  /** Field lines, without the length of the body. */
  readonly fields: readonly string[];
  readonly body: string;
}

type Break = (good: GoodRequest, random: Random) => string;

const join = (line: string, fields: readonly string[], body: string, end = '\r\n'): string =>
  `${[line, ...fields].join(end)}${end}${end}${body}`;
const lengthOf = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}`;
const whole = ({ path, fields, body }: GoodRequest): string =>
  join(`POST ${path} HTTP/1.1`, [...fields, lengthOf(body)], body);
const withLine =
  (line: (path: string, random: Random) => string): Break =>
  ({ path, fields, body }, random) =>
    join(line(path, random), [...fields, lengthOf(body)], body);
const withFields =
  (more: (body: string, random: Random) => readonly string[]): Break =>
  ({ path, fields, body }, random) =>
    join(`POST ${path} HTTP/1.1`, [...fields, ...more(body, random)], body);

const breaks: readonly Break[] = [
  withLine((path, random) => `POST ${path} HTTP/${random.below(10)}.${random.below(10)}`),
  withLine((path, random) => `POST${' '.repeat(random.below(4))}${path}\tHTTP/1.1`),
  withLine((path) => `POST ${path}`),
  withLine((path, random) => `${random.pick(['post', 'GET', 'PATCH', 'FOO', 'CONNECT', '', '\u0000'])} ${path} HTTP/1.1`),
  withLine((path, random) => `POST ${path}${random.pick(['?', '#a', '/..', '%00', '\u0001', ' x', '//'])} HTTP/1.1`),
  withLine((path, random) => `POST http://evil.example:${random.below(70_000)}${path} HTTP/1.1`),
  withFields((_body, random) => [`Content-Length: ${random.pick(['-1', '+5', '0x10', '1e3', ' ', '5 5', '99999999999999999999'])}`]),
  withFields((body) => [lengthOf(body), `Content-Length: ${Buffer.byteLength(body) + 1}`]),
  withFields((body) => [lengthOf(body), 'Transfer-Encoding: chunked']),
  withFields((_body, random) => [`Transfer-Encoding: ${random.pick(['gzip', 'chunked, chunked', 'identity', ' chunked', 'xchunked', 'chunked;x'])}`]),
  withFields((body, random) => [lengthOf(body), `X${random.pick([' ', '\t', '', '(', '\u0000', 'é'])}: ${random.below(1_000_000)}`]),
  withFields((body, random) => [lengthOf(body), `X-A: ${random.below(1_000_000)}${random.pick(['\u0000', '\u0007', '\r', '\n', '\u007f'])}b`]),
  withFields((body, random) => [` folded ${random.below(1_000_000)}`, lengthOf(body)]),
  withFields((body, random) => [lengthOf(body), ...Array.from({ length: 90 + random.below(40) }, (_, n) => `X-${n}: ${random.below(1_000_000)}`)]),
  withFields((body, random) => [lengthOf(body), `X-Long: ${'y'.repeat(15_000 + random.below(5_000))}`]),
  withFields((body, random) => [lengthOf(body), `Host: evil-${random.below(1_000_000)}.example`]),
  withFields((body, random) => [lengthOf(body), `Expect: ${random.pick(['100-continue', '200-ok'])}`, `X-N: ${random.below(1_000_000)}`]),
  withFields((body, random) => [lengthOf(body), 'Connection: Upgrade', `Upgrade: ${random.pick(['websocket', 'h2c', 'x'])}-${random.below(1_000_000)}`]),
  ({ path, fields, body }, random) =>
    join(`POST ${path} HTTP/1.1`, [...fields, 'Transfer-Encoding: chunked'], chunks(body, random)),
  ({ path, fields, body }, random) =>
    join(`POST ${path} HTTP/1.1`, [...fields, lengthOf(body)], body, random.pick(['\n', '\r', '\n\r', '\r\r\n'])),
  (good, random) => whole(good).slice(0, 1 + random.below(whole(good).length - 1)),
  (good, random) => `${'\r\n'.repeat(random.below(5))}${whole(good)}${random.below(1_000_000)} / HTTP/1.1\r\n\r\n`,
]; // prettier-ignore

/** A chunked body with a size, an extension or an end that is wrong. */
function chunks(body: string, random: Random): string {
  const size = Buffer.byteLength(body);
  const said = random.pick([`${(size + 1 + random.below(99)).toString(16)}`, 'ZZ', '-1', `${size.toString(16)} ;`, 'ffffffffffffffff', '']);
  return `${said}\r\n${body}${random.pick(['\r\n', '\n', ''])}${random.pick(['0\r\n\r\n', '0\r\nX: y\r\n\r\n', '', '1'])}`;
} // prettier-ignore

export class BadHeads {
  readonly #random: Random;
  readonly #good: GoodRequest;

  constructor(seed: number, good: GoodRequest) {
    this.#random = new Random(seed);
    this.#good = good;
  }

  next(): Buffer {
    const random = this.#random;
    if (random.below(3) === 0) return edited(random, Buffer.from(whole(this.#good)), 1 + random.below(6));
    const text = random.pick(breaks)(this.#good, random);
    return random.below(3) === 0 ? edited(random, Buffer.from(text, 'latin1'), 1) : Buffer.from(text, 'latin1');
  }
}
