/** What the turns of one batch touched, together, each once: what has to be withdrawn, published and asked what it owes. */
import type { RouteName } from './liveTable.ts';
import type { State } from './state.ts';
import type { Turn } from './turn.ts';

export class Touched {
  readonly accounts = new Set<string>();
  readonly #upheaved = new Set<string>();
  /** Account (empty: this device) → connector → name. */
  readonly #routes = new Map<string, Map<string, RouteName>>();

  add(turn: Turn): void {
    for (const account of turn.accounts) this.accounts.add(account);
    for (const account of turn.upheaved) this.#upheaved.add(account);
    for (const route of turn.routes) this.#of(route.account ?? '').set(route.connector, route);
  }

  #of(account: string): Map<string, RouteName> {
    const found = this.#routes.get(account);
    if (found !== undefined) return found;
    const made = new Map<string, RouteName>();
    this.#routes.set(account, made);
    return made;
  }

  /** Of an account that became something else, every route; of the others, those that were touched. */
  names(state: State): readonly RouteName[] {
    for (const upheaved of this.#upheaved)
      for (const { account, connector } of state.routes.get(upheaved)?.values() ?? [])
        this.#of(upheaved).set(connector, { account, connector });
    return [...this.#routes.values()].flatMap((ofAccount) => [...ofAccount.values()]);
  }
}
