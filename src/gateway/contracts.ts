/**
 * Which arguments of a tool travel as headers too, as last served to one identity: what a call's `Mcp-Param-*` headers are held against.
 *
 * Kept only under the key that the authority gives, which changes with account, connection, its version and the binding's revision,
 * so that nothing served to one identity is ever used for another. Threat C15. Lost with the process: a call then reads it again.
 */
import type { ParameterBinding } from '../protocol/parameters.ts';
import type { Tool } from '../protocol/results.ts';

export interface Contracts {
  /** Remembers tools that were served. `whole`: they are all there is, so others are forgotten. */
  served(scope: string, tools: readonly Tool[], whole: boolean): void;
  /** The header bindings of a tool, or `undefined` when it was not served under this scope. */
  bindings(scope: string, tool: string): readonly ParameterBinding[] | undefined;
  /** Whether the scope was served so recently that reading it again for one caller's mistake would only be load. */
  isFresh(scope: string): boolean;
}

interface Contract {
  readonly tools: Map<string, readonly ParameterBinding[]>;
  readonly atMs: number;
}

const SCOPES = 2_000;
const TOOLS = 4_096;
const FRESH_MS = 1_000;

export function openContracts(now: () => number): Contracts {
  const contracts = new Map<string, Contract>();
  const keep = (scope: string, contract: Contract): void => {
    contracts.delete(scope);
    contracts.set(scope, contract);
    const [oldest] = contracts.keys();
    if (contracts.size > SCOPES && oldest !== undefined) contracts.delete(oldest);
  };
  return {
    served(scope, tools, whole) {
      const before = whole ? undefined : contracts.get(scope)?.tools;
      const served = tools.map((tool) => [tool.name, tool.bindings] as const);
      const known = before === undefined || before.size + served.length > TOOLS ? [] : [...before];
      keep(scope, { tools: new Map([...known, ...served]), atMs: now() });
    },
    bindings: (scope, tool) => contracts.get(scope)?.tools.get(tool),
    isFresh(scope) {
      const contract = contracts.get(scope);
      return contract !== undefined && now() - contract.atMs < FRESH_MS;
    },
  };
}
