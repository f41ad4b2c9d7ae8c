/** What can be asked of a running daemon through its control socket, each with its input checked. */
import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import { exportLines, type EventLog, type RowSource } from '../events/index.ts';
import { BadJson, isObject, limits, McpError, parseJson } from '../protocol/index.ts';
import type { Reconciler, RouteTable } from '../reconcile/index.ts';
import { AuthorizationRefused, type Authorizations } from './authorization.ts';
import { command, type Commands } from './control.ts';
import { latestOf } from './latest.ts';
import type { Aggregate } from './server/aggregate.ts';
import type { Accounts } from './sources/accounts.ts';

export interface CommandsOptions {
  readonly reconciler: Reconciler;
  readonly log: EventLog & RowSource;
  readonly aggregate: Aggregate;
  readonly accounts: Accounts | null;
  readonly authorizations: Authorizations;
  readonly about: () => Readonly<Record<string, unknown>>;
  readonly endpoint: { readonly mcpUrl: string; readonly mcpToken: string };
  readonly package: string;
}

/** There is no login source, so there are no accounts. */
class NoAccounts extends Error {
  override readonly name = 'NoAccounts';
  constructor() {
    super('this daemon has no accounts: set sessionFile in its configuration');
  }
}

const nothing = z.strictObject({});
const words = (most: number) => {
  const expected = `expected 1 to ${String(most)} characters`;
  return z.string().min(1, expected).max(most, expected);
};
const name = words(191);
const position = z.number().int().min(1);
const secretText = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= limits.secretBytes, `a secret has at most ${limits.secretBytes} bytes`);

export function daemonCommands(options: CommandsOptions): Commands {
  return { ...tellings(options), ...tools(options), ...changes(options), ...logs(options) };
}

function tellings({ reconciler, about, endpoint }: CommandsOptions): Commands {
  return {
    status: command(nothing, async () => ({ ...reconciler.status(), daemon: about() })),
    why: command(
      z.strictObject({ connector: name, account: name.nullable().optional() }),
      async ({ connector, account }) => reconciler.explain(connector, account),
    ),
    endpoint: command(nothing, async () => endpoint),
    position: command(nothing, async () => ({ position: reconciler.position, stateHash: reconciler.stateHash() })),
    tables: command(nothing, (_, signal) => latestOf(tablesAsData(reconciler.tables), signal)),
  };
}

function tablesAsData(tables: Observable<RouteTable>): Observable<unknown> {
  return tables.pipe(map((table) => [...table.values()]));
}

function tools({ aggregate }: CommandsOptions): Commands {
  const call = z.strictObject({ name: words(128), argsText: z.string().default('{}') });
  return {
    tools: command(nothing, async (_, signal) => wholeList(aggregate, signal)),
    call: command(call, async ({ name: tool, argsText }, signal) => {
      const args = parseJson(argsText, { duplicates: 'refuse' });
      if (!isObject(args.value)) throw new BadJson('syntax', 'arguments are a JSON object');
      try {
        const result = await aggregate.call({ name: tool, args, metaText: undefined }, { signal, progress: undefined });
        return { resultText: result.text, isError: result.isError };
      } catch (error) {
        if (error instanceof McpError) return { error: error.rpc };
        throw error;
      }
    }),
  };
}

async function wholeList(aggregate: Aggregate, signal: AbortSignal) {
  const first = await aggregate.list(undefined, signal);
  const [all, missing, excluded] = [[...first.tools], [...first.missing], [...first.excluded]];
  for (let page = first; page.nextCursor !== undefined;) {
    page = await aggregate.list(page.nextCursor, signal);
    all.push(...page.tools);
    missing.push(...page.missing);
    excluded.push(...page.excluded);
  }
  return { tools: all.map((text) => JSON.parse(text) as unknown), missing, excluded };
}

function changes({ reconciler, accounts, authorizations }: CommandsOptions): Commands {
  const active = (): Accounts => {
    if (accounts === null) throw new NoAccounts();
    return accounts;
  };
  const connect = z.strictObject({ connector: name, secret: secretText.optional() });
  return {
    'account.use': command(z.strictObject({ account: name }), async ({ account }) => {
      await active().use(account);
      return reconciler.active;
    }),
    'account.signOut': command(nothing, async () => active().signOut()),
    'account.trustServer': command(z.strictObject({ acceptedBy: name, account: name.optional() }), async (input) => {
      const account = input.account ?? reconciler.active?.account;
      if (account === undefined) throw new AuthorizationRefused('signed-out', 'nobody is signed in: name the account');
      reconciler.accept({ type: 'server.reset', data: { account, acceptedBy: input.acceptedBy } });
    }),
    connect: command(connect, ({ connector, secret }, signal) => authorizations.connect(connector, secret, signal)),
    disconnect: command(z.strictObject({ connector: name }), ({ connector }, signal) =>
      authorizations.disconnect(connector, signal),
    ),
  };
}

function logs({ log, package: version }: CommandsOptions): Commands {
  const from = z.strictObject({ from: position.default(1), count: z.number().int().min(1).optional() });
  const redact = z.strictObject({ redactKey: z.string().min(8).optional() });
  return {
    'log.read': command(from, ({ from: first, count }) => atMost(log.read(first), count ?? Infinity)),
    'log.verify': command(nothing, async () => log.verify()),
    'log.export': command(redact, ({ redactKey }) =>
      atMost(exportLines(log, { package: version, ...(redactKey === undefined ? {} : { redactKey }) }), Infinity),
    ),
  };
}

/** Lets others run between rows: a long log is not read in one go. */
async function* atMost<T>(items: Iterable<T>, count: number): AsyncGenerator<T, void, undefined> {
  let told = 0;
  for (const item of items) {
    if (told++ >= count) return;
    if (told % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    yield item;
  }
}
