import type { Explanation, Status } from '../../reconcile/index.ts';
import { askAdmin } from '../admin.ts';
import { askDaemon } from '../daemon.ts';
import { CommandError, EXIT } from '../exit.ts';
import { pathsOf } from '../paths.ts';
import type { CommonOptions, Run } from '../program.ts';
import { adminOf } from '../up/prepare.ts';

type Options = CommonOptions & { readonly account?: string };
type Kind = 'rotate' | 'revoke' | 'expire';

/** Changes a connection on the server's side, as a provider or an administrator would: the daemon has to find out. */
export function change(kind: Kind): Run<Options, [string]> {
  return async ({ options, output }, connector) => {
    const account = await accountOf(options, connector);
    const admin = adminOf(pathsOf(process.env, options.state).state);
    const path = ['', 'v1', 'accounts', account, 'connectors', connector, kind].map(encodeURIComponent).join('/');
    const stands = (await askAdmin(admin, path, {})) as Readonly<Record<string, unknown>>;
    output.result(
      { kind, ...stands },
      () => `${connector} of ${account}: ${String(stands['state'])}, revision ${String(stands['revision'])}.`,
    );
    return EXIT.ok;
  };
}

/** The admin knows ids alone; what `account 2` is called is known to the daemon. */
async function accountOf(options: Options, connector: string): Promise<string> {
  const { account } = options;
  if (account === undefined) return activeAccount(options);
  if (!/^account \d+$/.test(account)) return account;
  return ((await askDaemon(options, 'why', { connector, account })) as Explanation).account ?? account;
}

async function activeAccount(options: CommonOptions): Promise<string> {
  const { account } = (await askDaemon(options, 'status')) as Status;
  if (account !== null) return account.id;
  throw new CommandError(EXIT.usage, 'no account is active', 'name one with --account');
}
