/** Names in what is shown: accounts by the order of their first appearance, which redaction does not change. */
import { accountLabel, type Effect, type RouteName, type State } from '../reconcile/index.ts';

/** `docs`, or `account 1/docs`. */
export function routeLabel(state: State, { account, connector }: RouteName): string {
  return account === null ? connector : `${accountLabel(state, account)}/${connector}`;
}

/** `open account 1/docs`, `close files`, `read account 1`. */
export function effectLabel(state: State, effect: Effect): string {
  if (effect.kind === 'fetchSnapshot') return `read ${accountLabel(state, effect.account)}`;
  return `${effect.kind === 'openRoute' ? 'open' : 'close'} ${routeLabel(state, effect)}`;
}

/** Whether a route is of this device or of the active account: the others are rarely what a reader looks for. */
export function isForeground(state: State, { account }: RouteName): boolean {
  return account === null || account === state.head.active?.account;
}
