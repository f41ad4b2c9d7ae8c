/**
 * JSON-RPC 2.0 as MCP uses it: one message at a time, ids that are text or integers and never null, member names exact.
 *
 * An id is kept as canonical JSON text, because a peer may count above 2^53 and two ids that a float makes equal are not.
 * Params and results stay the text they came as. Source: MCP 2026-07-28 basic, JSON-RPC 2.0.
 */
import { isObject, type Json, type JsonObject, rawMember, rawMemberMap, rawObject } from './json.ts';
import { limits } from './limits.ts';

/** A JSON-RPC id as canonical JSON text: `7`, `9007199254740993`, `"a"`. Equal ids are equal texts. */
export type Id = string & { readonly jsonRpcId: unique symbol };

export interface Request {
  readonly kind: 'request';
  readonly id: Id;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly paramsText: string | undefined;
}

export interface Notification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly paramsText: string | undefined;
}

export interface ResultResponse {
  readonly kind: 'result';
  readonly id: Id;
  readonly result: JsonObject;
  readonly resultText: string;
}

/** `dataText` is the text of `data` as it came, so that it can pass through unchanged. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  readonly dataText?: string;
}

/** `id` is null when the peer could not read, or did not repeat, the id of the request. */
export interface ErrorResponse {
  readonly kind: 'error';
  readonly id: Id | null;
  readonly error: RpcError;
}

export type Message = Request | Notification | ResultResponse | ErrorResponse;

/** A JSON text that is no JSON-RPC message, with the id of it where one could be read: the answer must carry it. */
export class BadMessage extends Error {
  override readonly name = 'BadMessage';
  readonly id: Id | null;
  constructor(message: string, id: Id | null = null) {
    super(message);
    this.id = id;
  }
}

/** The id for a number or a text of our own. */
export const makeId = (value: number | string): Id => JSON.stringify(value) as Id;

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;

/** Reads an id from its JSON text. Null, fractions, containers and absurdly long ids are none. */
export function parseId(raw: string | undefined): Id | undefined {
  if (raw === undefined || raw.length > limits.idChars) return undefined;
  if (raw.startsWith('"')) return JSON.stringify(JSON.parse(raw)) as Id;
  if (INTEGER.test(raw)) return (raw === '-0' ? '0' : raw) as Id;
  const value = raw === '' || raw === 'null' || raw === 'true' || raw === 'false' ? NaN : Number(raw);
  return Number.isSafeInteger(value) ? (String(value) as Id) : undefined; // 1e2 and 1.0 are integers too
}

const REQUEST_MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

/**
 * Reads one message. A batch, a wrong version, an id that is none, params that are no object, and a message that is both a
 * request and a response are refused; a response may carry members we do not know, a request may not. Throws {@link BadMessage}.
 */
export function parseMessage(json: Json): Message {
  if (Array.isArray(json.value))
    throw new BadMessage('batches are not part of this protocol; send one message a request');
  if (!isObject(json.value)) throw new BadMessage('a JSON-RPC message is an object');
  const read: Members = { value: json.value, raw: rawMemberMap(json.text) };
  const id = parseId(read.raw.get('id'));
  if (read.value['jsonrpc'] !== '2.0') throw new BadMessage('jsonrpc must be "2.0"', id ?? null);
  return read.raw.has('method') ? readCall(read, id) : readResponse(read, id);
}

/** The members of a message twice: as values, and as the text each came as. */
interface Members {
  readonly value: JsonObject;
  readonly raw: ReadonlyMap<string, string>;
}

function readCall({ value, raw }: Members, id: Id | undefined): Request | Notification {
  const fail = (why: string): never => {
    throw new BadMessage(why, id ?? null);
  };
  if (raw.has('id') && id === undefined) fail('id must be a string or an integer');
  for (const name of raw.keys())
    if (!REQUEST_MEMBERS.has(name)) fail('a request has only jsonrpc, id, method and params');
  const { method, params } = value as { method: unknown; params?: unknown };
  if (typeof method !== 'string' || method === '') return fail('method must be a text');
  if (params !== undefined && !isObject(params)) return fail('params must be an object');
  const call = { method, params, paramsText: raw.get('params') };
  return id === undefined ? { kind: 'notification', ...call } : { kind: 'request', id, ...call };
}

function readResponse({ value, raw }: Members, id: Id | undefined): ResultResponse | ErrorResponse {
  if (raw.has('error') === raw.has('result')) throw new BadMessage('a response has either result or error', id ?? null);
  if (raw.has('error')) {
    const error = readError(value['error'], raw.get('error') ?? '{}');
    if (error === undefined) throw new BadMessage('error needs an integer code', id ?? null);
    return { kind: 'error', id: id ?? null, error };
  }
  const result = value['result'];
  if (id === undefined) throw new BadMessage('a result needs the id of its request');
  if (!isObject(result)) throw new BadMessage('result must be an object', id);
  return { kind: 'result', id, result, resultText: raw.get('result') ?? '{}' };
}

/** A missing message is forgiven: the code alone may withdraw a route, and must not be lost for want of a text. */
function readError(value: unknown, text: string): RpcError | undefined {
  if (!isObject(value)) return undefined;
  const { code, message } = value as { code: unknown; message: unknown };
  if (!Number.isSafeInteger(code)) return undefined;
  const dataText = rawMember(text, 'data');
  const data = dataText === undefined ? {} : { data: value['data'], dataText };
  return { code: code as number, message: typeof message === 'string' ? message : '', ...data };
}

/** The text of a request; params are JSON text already. */
export function encodeRequest(id: Id, method: string, paramsText?: string): string {
  return rawObject([
    ['jsonrpc', '"2.0"'],
    ['id', id],
    ['method', JSON.stringify(method)],
    ['params', paramsText],
  ]);
}

export function encodeNotification(method: string, paramsText?: string): string {
  return rawObject([
    ['jsonrpc', '"2.0"'],
    ['method', JSON.stringify(method)],
    ['params', paramsText],
  ]);
}

export function encodeResult(id: Id, resultText: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${resultText}}`;
}

/** `id` null only when the request's id could not be read. `dataText` wins over `data`. */
export function encodeError(id: Id | null, error: RpcError): string {
  const data = error.dataText ?? (error.data === undefined ? undefined : JSON.stringify(error.data));
  const body = rawObject([
    ['code', String(error.code)],
    ['message', JSON.stringify(error.message)],
    ['data', data],
  ]);
  return `{"jsonrpc":"2.0","id":${id ?? 'null'},"error":${body}}`;
}
