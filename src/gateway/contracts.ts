/**
 * What was last served to one identity about a connector's tools: which arguments travel as headers too (a call's `Mcp-Param-*` are
 * held against it), and the hash of the definition (a confirmation is bound to it).
 *
 * Kept only under the key that the authority gives, which changes with account, connection, its version and the binding's revision,
 * so that nothing served to one identity is ever used for another. Threats C15, C29. Lost with the process: a call then reads it again.
 */
import { createHash } from 'node:crypto';

import type { ParameterBinding } from '../protocol/parameters.ts';
import type { Tool } from '../protocol/results.ts';

export interface ServedTool {
  readonly bindings: readonly ParameterBinding[];
  readonly definitionHash: string;
}

export interface Contracts {
  /** Remembers tools that were served. `whole`: they are all there is, so others are forgotten. */
  served(scope: string, tools: readonly Tool[], whole: boolean): void;
  /** A tool as it was served, or `undefined` when it was not, under this scope. */
  find(scope: string, tool: string): ServedTool | undefined;
  /** Whether all of it was served so recently that reading it again for one caller's mistake would only be load. */
  isFresh(scope: string): boolean;
  /** The scope that an identity was last given; an identity names session (by its hash), connector and version. */
  scopeOf(identity: string): string | undefined;
  given(identity: string, scope: string): void;
}

interface Contract {
  readonly tools: ReadonlyMap<string, ServedTool>;
  readonly whole: boolean;
  readonly atMs: number;
}

const SCOPES = 2_000;
const TOOLS = 4_096;
const FRESH_MS = 1_000;

export function openContracts(now: () => number): Contracts {
  const contracts = new Map<string, Contract>();
  const scopes = new Map<string, string>();
  return {
    served(scope, tools, whole) {
      const before = whole ? undefined : contracts.get(scope)?.tools;
      const known = before === undefined || before.size + tools.length > TOOLS ? [] : [...before];
      const served = tools.map((tool) => [tool.name, servedTool(tool)] as const);
      keep(contracts, scope, { tools: new Map([...known, ...served]), whole, atMs: now() });
    },
    find: (scope, tool) => contracts.get(scope)?.tools.get(tool),
    isFresh(scope) {
      const contract = contracts.get(scope);
      return contract?.whole === true && now() - contract.atMs < FRESH_MS;
    },
    scopeOf: (identity) => scopes.get(identity),
    given: (identity, scope) => keep(scopes, identity, scope),
  };
}

function servedTool({ bindings, text }: Tool): ServedTool {
  return { bindings, definitionHash: createHash('sha256').update(text, 'utf8').digest('base64url') };
}

/** The longest unused goes first. */
function keep<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= SCOPES) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
