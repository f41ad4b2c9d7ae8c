/** What is listened to: logins, hints, the clock. Each tells facts and decides nothing. */
import { join } from 'node:path';
import { BehaviorSubject, Subject } from 'rxjs';
import type { Fact } from '../events/index.ts';
import type { Core } from './core.ts';
import { startAccounts, type Accounts } from './sources/accounts.ts';
import { startClock } from './sources/clock.ts';
import { hintFacts } from './sources/hints.ts';
import type { Sessions } from './sources/sessions.ts';

/** `null`: this daemon has no accounts, and nothing to poll or to hear. */
export async function openEars(core: Core): Promise<Accounts | null> {
  const { config, reconciler, sessions, closers, log } = core;
  if (sessions === null) return null;
  const active = new BehaviorSubject<string | null>(null);
  const slept = new Subject<void>();
  if (config.hintsUrl !== null) listenForHints(core, config.hintsUrl, sessions, active, slept);
  const accounts = await startAccounts({
    ...{ sessions, reconciler, log },
    choiceFile: join(config.stateDir, 'account.json'),
    onActive: (account) => active.next(account),
  });
  closers.add(() => accounts.stop());
  const accept = (fact: Fact): void => reconciler.accept(fact);
  closers.add(startClock({ everyMs: config.pollEveryMs, accept, onSleep: () => slept.next() }));
  return accounts;
}

function listenForHints(
  { config, reconciler, closers, log, edge, hints }: Core,
  url: string,
  sessions: Sessions,
  active: BehaviorSubject<string | null>,
  slept: Subject<void>,
): void {
  const options = { url, deviceId: config.deviceId, sessions, newId: () => edge.newId(), log };
  // Another account has another channel; what is left of the old one tells nothing.
  const switched = active.subscribe(() => (hints.state = 'closed'));
  const heard = hintFacts(active, slept, options).subscribe((fact) => {
    if (fact.type === 'hints.opened') hints.state = 'open';
    if (fact.type === 'hints.lost') hints.state = 'closed';
    reconciler.accept(fact);
  });
  closers.add(() => (heard.unsubscribe(), switched.unsubscribe()));
}
