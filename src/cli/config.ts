/**
 * Configuration of the three processes: one YAML file with a section for each; flag, then environment, then file, then default.
 *
 * The rooms own the schemas of their sections; here they are only put together. In the environment a key of a section is
 * `DACAPO_` + section + key in upper snake case, and its `_FILE` twin names a file that holds the value.
 */
import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { CommandError, EXIT } from './exit.ts';

export type Section = 'daemon' | 'gateway' | 'authority';
export type Environment = Readonly<Record<string, string | undefined>>;
type Values = Readonly<Record<string, unknown>>;

/** Where a value was found, the strongest first. */
export type Origin = 'flag' | 'environment' | 'file' | 'default';

export interface Request<Schema extends z.ZodType> {
  readonly section: Section;
  readonly schema: Schema;
  /** Path of the file, and whether a person named it: one that was named must exist. */
  readonly file: string;
  readonly named: boolean;
  readonly environment: Environment;
  /** Values given on the command line; undefined ones were not. */
  readonly flags: Values;
}

export interface Loaded<Value> {
  readonly value: Value;
  /** Where each key of the section came from; keys of which nothing was said are defaults. */
  readonly origins: Readonly<Record<string, Origin>>;
}

/** Names in the environment that are not ours, kept so that a daemon can stand in for the real client. */
const foreign: Readonly<Record<string, string>> = { 'daemon.mcpUrl': 'TUTTI_CONNECTOR_MCP_BASE_URL' };

/** Reads one section. Throws a {@link CommandError} (2) that names the key, where its value came from, and what is accepted. */
export function loadConfig<Schema extends z.ZodType>(request: Request<Schema>): Loaded<z.output<Schema>> {
  const types = keyTypes(request.schema);
  const layers: readonly (readonly [Origin, Values])[] = [
    ['file', fromFile(request)],
    ['environment', fromEnvironment(request, types)],
    ['flag', Object.fromEntries(Object.entries(request.flags).filter(([, value]) => value !== undefined))],
  ];
  const merged = Object.fromEntries(layers.flatMap(([, values]) => Object.entries(values)));
  const origins = Object.fromEntries(
    layers.flatMap(([origin, values]) => Object.keys(values).map((key) => [key, origin])),
  );
  const parsed = request.schema.safeParse(merged);
  if (!parsed.success) throw refused(request, parsed.error, origins);
  return { value: parsed.data, origins: { ...defaults(types, origins), ...origins } };
}

/** `pollEveryMs` of the daemon is `DACAPO_DAEMON_POLL_EVERY_MS`. */
export function variableOf(section: Section, key: string): string {
  return `DACAPO_${section}_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`)}`.toUpperCase();
}

function defaults(types: ReadonlyMap<string, boolean>, origins: Values): Readonly<Record<string, Origin>> {
  return Object.fromEntries([...types.keys()].filter((key) => !(key in origins)).map((key) => [key, 'default']));
}

/** Keys of a section, each with whether it takes text as it is. */
function keyTypes(schema: z.ZodType): ReadonlyMap<string, boolean> {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return new Map(Object.entries(properties).map(([key, value]) => [key, takesText(value)]));
}

function takesText(schema: unknown): boolean {
  const { type, anyOf = [], enum: words } = (schema ?? {}) as Readonly<Record<string, unknown>> & { anyOf?: unknown[] };
  return [type].flat().includes('string') || words !== undefined || anyOf.some(takesText);
}

function fromFile({ file, named, section }: Request<z.ZodType>): Values {
  const text = readConfigFile(file, named);
  if (text === undefined) return {};
  const document = parseDocument(text, { prettyErrors: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw unusable(`${file} is not YAML: ${problem.message.split('\n')[0] ?? ''}`);
  const whole = fileSchema.safeParse(document.toJS({ maxAliasCount: 100 }) ?? {});
  if (!whole.success) throw unusable(`${file}: ${z.prettifyError(whole.error)}`);
  return whole.data[section] ?? {};
}

const section = z.record(z.string(), z.unknown()).nullish();
const fileSchema = z.strictObject({ daemon: section, gateway: section, authority: section });

function readConfigFile(file: string, named: boolean): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !named) return undefined;
    throw unusable(`the configuration file can't be read: ${message}`);
  }
}

function fromEnvironment({ section, environment }: Request<z.ZodType>, types: ReadonlyMap<string, boolean>): Values {
  refuseUnknown(section, environment, types);
  const found = [...types].flatMap(([key, text]) => {
    const name = variableOf(section, key);
    const value = valueOf(environment, name) ?? environment[foreign[`${section}.${key}`] ?? ''];
    return value === undefined ? [] : [[key, text ? value : decoded(name, value)] as const];
  });
  return Object.fromEntries(found);
}

/** A misspelt variable would be a setting that somebody believes in. */
function refuseUnknown(section: Section, environment: Environment, types: ReadonlyMap<string, boolean>): void {
  const known = new Set([...types.keys()].map((key) => variableOf(section, key)));
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith(variableOf(section, '')) && !known.has(name.replace(/_FILE$/, '')) && !known.has(name),
  );
  if (unknown.length === 0) return;
  throw unusable(`${unknown.join(', ')}: no key of ${section} has that variable; known are ${[...known].join(', ')}`);
}

/** Of a variable or its twin; both at once is a question nobody can answer. */
function valueOf(environment: Environment, name: string): string | undefined {
  const [value, file] = [environment[name], environment[`${name}_FILE`]];
  if (value !== undefined && file !== undefined) throw unusable(`both ${name} and ${name}_FILE are set: keep one`);
  return file === undefined ? value : readConfigFile(file, true)?.replace(/\r?\n$/, '');
}

function decoded(name: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw unusable(`${name} is not JSON (a number, true, false, null, or a list)`);
  }
}

function refused(
  request: Request<z.ZodType>,
  error: z.ZodError,
  origins: Readonly<Record<string, Origin>>,
): CommandError {
  const lines = error.issues.map((issue) => {
    const key = issue.path.map(String);
    const origin = origins[key[0] ?? ''] ?? 'nowhere';
    const place =
      origin === 'file' ? request.file : origin === 'environment' ? variableOf(request.section, key[0] ?? '') : origin;
    return `${[request.section, ...key].join('.')} (from ${place}): ${issue.message}`;
  });
  return unusable(lines.join('\n  '));
}

function unusable(message: string): CommandError {
  return new CommandError(EXIT.usage, message, 'schemas/config.json says what is accepted');
}
