/**
 * One-line bugs of the core, each with the law that must notice it. A mutant that no world, no search and no test of its law notices
 * has found a hole in the tests, not in the code.
 */
import type { Law } from '../src/simulate/index.ts';

export interface Mutant {
  readonly name: string;
  /** Path below src/. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  readonly law: Law;
  /** Noticed by the test of its law alone, since no world has what it breaks. */
  readonly byTest?: true;
}

/** Noticed by nobody else: what it breaks is not in any world. */
const byTest = (one: Mutant): Mutant => ({ ...one, byTest: true });

const mutant = (law: Law, name: string, file: string, find: string, replace: string): Mutant => ({
  law,
  name,
  file,
  find,
  replace,
});

const belief = 'machines/belief.ts';
const attempts = 'machines/attempts.ts';
const tombstone = 'machines/tombstone.ts';
const hydration = 'machines/hydration.ts';
const evolve = 'reconcile/evolve.ts';
const standing = 'reconcile/standing.ts';
const due = 'reconcile/due.ts';
const project = 'reconcile/project.ts';
const engine = 'reconcile/engine.ts';
const performing = 'reconcile/performing.ts';
const judge = 'reconcile/judge.ts';

export const mutants: readonly Mutant[] = [
  // Who may see.
  mutant('L1', 'routes-of-any-account', standing, "if (active.account !== route.account) return 'other-account';", ''),
  mutant(
    'L1',
    'sign-out-of-a-shut-account-is-nothing',
    'reconcile/turn.ts',
    ' || before.context.epoch !== after.context.epoch',
    '',
  ),
  mutant(
    'L1',
    'table-forgets-to-withdraw',
    'reconcile/liveTable.ts',
    'changed = this.#entries.delete(key);',
    'changed = true;',
  ),
  mutant(
    'L2',
    'unread-routes-are-wanted',
    standing,
    "return seenIn === active.epoch || saysMore(route.machine.value) ? null : 'unknown';",
    'return seenIn === active.epoch || saysMore(route.machine.value) ? null : null;',
  ),
  mutant(
    'L1',
    'switch-withdraws-nothing',
    'reconcile/turn.ts',
    'if (concernsRoutes(record.machine, machine)) this.upheaved.push(account);',
    '',
  ),
  mutant('L2', 'replies-of-another-login-count', evolve, ' && head.active.epoch === epoch', ''),
  mutant('L15', 'local-routes-follow-the-login', standing, 'route.account === null ? state.head.boot : ', ''),
  mutant(
    'L15',
    'local-routes-need-an-account',
    standing,
    "if (route.account === null) return waitsForAccount(route) ? 'signed-out' : null;",
    "if (route.account === null) return state.head.active === null ? 'signed-out' : null;",
  ),

  // Going back in time.
  mutant(
    'L3',
    'adopted-line-keeps-belief',
    belief,
    '    read: null,\n    unreadable: false,\n    highWater: null,',
    '    unreadable: false,\n    highWater: null,',
  ),
  mutant(
    'L3',
    'stamps-without-a-line',
    'events/stamp.ts',
    'return a.line - b.line || compareUint64',
    'return compareUint64',
  ),
  mutant('L3', 'adopts-at-the-second-dissent', judge, 'return count >= 3 ?', 'return count >= 2 ?'),
  mutant('L3', 'dissents-of-one-second-count', hydration, 'if (atMs - held.lastAtMs < APART_MS) return held;', ''),
  mutant(
    'L3',
    'lower-revisions-are-believed',
    judge,
    "if (order > 0) return { kind: 'accepted' };",
    "if (order !== 0) return { kind: 'accepted' };",
  ),
  mutant(
    'L3',
    'torn-version-raises-no-water',
    belief,
    'highWater: raised(context.highWater, joined)',
    'highWater: context.highWater',
  ),
  mutant('L3', 'closed-connection-has-no-water', belief, ' && connectionIdHash === null;', ';'),
  mutant(
    'L3',
    'older-version-is-believed',
    belief,
    "if (!below || entry.state !== 'connected')",
    'if (true as boolean)',
  ),
  mutant(
    'L3',
    'server-epoch-is-not-asked',
    judge,
    "if (order > 0) return { kind: 'adopted' };",
    "if (order !== 0) return { kind: 'adopted' };",
  ),
  mutant('L4', 'torn-reply-opens', belief, 'const joined = joinEntries(held.entry, other);', 'const joined = other;'),
  mutant(
    'L4',
    'the-more-open-side-wins',
    'events/stamp.ts',
    'closedness[a.state] >= closedness[b.state]',
    'closedness[a.state] <= closedness[b.state]',
  ),
  mutant(
    'L4',
    'torn-closing-is-not-joined',
    'reconcile/foldSnapshot.ts',
    '  if (!torn) return;',
    '  if (torn || !torn) return;',
  ),
  mutant(
    'L6',
    'refusal-of-an-old-handle-counts',
    evolve,
    ' || data.generation !== generationOf(route.machine.context)) return;',
    ') return;',
  ),
  mutant(
    'L6',
    'refusal-of-an-old-login-counts',
    evolve,
    'if (route === undefined || !isCurrent(turn, data) || data.generation',
    'if (route === undefined || data.generation',
  ),
  mutant(
    'L7',
    'handle-of-another-login-is-shown',
    project,
    '(handle) => handle.generation === generation && handle.epoch === epoch',
    '(handle) => handle.generation === generation && epoch > 0',
  ),
  mutant(
    'L7',
    'handle-of-another-generation-is-shown',
    project,
    '(handle) => handle.generation === generation && handle.epoch === epoch',
    "(handle) => generation !== '' && handle.epoch === epoch",
  ),
  mutant(
    'L7',
    'one-closing-closes-all',
    evolve,
    'route === undefined ? [] : without(route, data);',
    'route === undefined ? [] : [];',
  ),
  mutant(
    'L7',
    'death-is-not-noticed',
    evolve,
    '  const route = closed(turn, event.data);\n',
    '  const route = findRoute(turn.state, event.data.account, event.data.connector);\n',
  ),

  // Withdrawing.
  mutant(
    'L5',
    'refused-handle-stays-wanted',
    attempts,
    'return regenerate(context, {\n    overlay: { position,',
    'return tried(context, {\n    ...context,\n    overlay: { position,',
  ),
  mutant('L5', 'earlier-read-lifts-a-refusal', attempts, 'read.startedAt < overlay.position || ', ''),
  mutant(
    'L5',
    'closed-read-lifts-a-refusal',
    attempts,
    " || entry.state !== 'connected') return overlay;",
    ') return overlay;',
  ),
  mutant(
    'L5',
    'no-hold-off',
    attempts,
    'if (changed || read.atMs >= overlay.holdUntilMs) return null;',
    'return null;',
  ),
  mutant(
    'L5',
    'hold-off-does-not-grow',
    attempts,
    '2 ** Math.min(k, 20) * 1000, HOLD_OFF_MAX_MS',
    '2 * 1000, HOLD_OFF_MAX_MS',
  ),
  mutant(
    'L5',
    'refusals-are-not-counted',
    attempts,
    'const k = same ? (context.strikes?.k ?? 0) + 1 : 1;',
    'const k = 1;',
  ),
  mutant(
    'L5',
    'refused-opening-only-failed',
    evolve,
    "if (data.reason === 'rejected' && data.account !== null)",
    'if (data.account === undefined)',
  ),
  mutant(
    'L5',
    'disconnect-is-lifted-by-an-earlier-read',
    tombstone,
    'if (answeredAt === null || read.startedAt < answeredAt) return tombstone;',
    'if (answeredAt === null) return tombstone;',
  ),
  mutant(
    'L8',
    'publishes-before-the-write',
    engine,
    'if (this.#table.withdraw(this.#state, routes)) this.#emit();\n',
    'if (this.#table.withdraw(this.#state, routes) || this.#table.publish(this.#state, routes)) this.#emit();\n',
  ),
  mutant(
    'L8',
    'withdraws-after-the-write',
    engine,
    'if (this.#table.withdraw(this.#state, routes)) this.#emit();\n    if (kept.length > 0 || this.readOnly) this.#write(kept);\n',
    'if (kept.length > 0 || this.readOnly) this.#write(kept);\n    if (this.#table.withdraw(this.#state, routes)) this.#emit();\n',
  ),
  mutant(
    'L8',
    'publishes-while-the-log-is-away',
    engine,
    'if (!this.readOnly && this.#table.publish',
    'if (this.#table.publish',
  ),
  mutant('L11', 'any-read-ends-a-wish', hydration, ' && read.startedAt >= context.wish;', ';'),
  mutant(
    'L11',
    'incomplete-read-ends-a-wish',
    hydration,
    'const satisfied = read.complete && wanted',
    'const satisfied = wanted',
  ),
  mutant(
    'L11',
    'dissent-ends-the-wish',
    hydration,
    '    wish: context.wish ?? context.epochAt,\n    notBeforeMs: evidence.atMs + DISSENT_HOLD_MS,',
    '    wish: null,\n    notBeforeMs: evidence.atMs + DISSENT_HOLD_MS,',
  ),
  mutant(
    'L11',
    'login-makes-no-wish',
    hydration,
    '  wish: position,\n  failures: 0,\n  notBeforeMs: atMs,\n  acceptedAtMs',
    '  wish: null,\n  failures: 0,\n  notBeforeMs: atMs,\n  acceptedAtMs',
  ),
  mutant(
    'L11',
    'hint-is-not-wanted',
    hydration,
    'const wanted = rises ? { revision, position, shorts: null } : context.wanted;',
    'const wanted = rises ? null : context.wanted;',
  ),
  mutant(
    'L11',
    'refusal-asks-nobody',
    evolve,
    "  turn.give(route, { type: 'rejected', position: turn.position, atMs });\n  wish(turn, atMs);",
    "  turn.give(route, { type: 'rejected', position: turn.position, atMs });",
  ),
  mutant(
    'L11',
    'nothing-is-closed',
    due,
    "    owed.push({ kind: 'closeRoute', account",
    "    if (state.head.now < 0) owed.push({ kind: 'closeRoute', account",
  ),
  mutant(
    'L11',
    'the-wanted-handle-is-closed',
    due,
    'if (handle.generation === generation && handle.epoch === epoch) continue;',
    '',
  ),
  mutant(
    'L11',
    'opens-what-is-open',
    due,
    'if (generation !== null && handleOf(route, generation, epoch) === undefined)',
    'if (generation !== null)',
  ),

  // Arriving.
  mutant(
    'L9',
    'seen-once-is-seen-never',
    belief,
    'seenIn: evidence.epoch,',
    'seenIn: context.seenIn === 0 ? evidence.epoch : context.seenIn,',
  ),
  mutant('L9', 'older-version-is-never-released', belief, 'if (regress.count < 3)', 'if (regress.count < 3_000)'),
  mutant(
    'L9',
    'lost-disconnect-stays',
    tombstone,
    'const lost = tombstone.answeredAt === null && tombstone.epoch !== read.epoch;',
    'const lost = false as boolean;',
  ),
  mutant(
    'L9',
    'nobody-wakes-for-a-retry',
    attempts,
    'const retry = context.fault?.retryAtMs ?? null;',
    'const retry = null as number | null;',
  ),
  mutant(
    'L9',
    'nobody-wakes-for-a-hold-off',
    attempts,
    'const hold = context.overlay?.confirmed === true ? context.overlay.holdUntilMs : null;',
    'const hold = null as number | null;',
  ),
  mutant(
    'L9',
    'bogus-hint-is-never-given-up',
    hydration,
    'return shorts.count >= 3 ? null',
    'return shorts.count >= 3 ? wanted',
  ),
  mutant('L9', 'restored-server-is-never-adopted', judge, 'return count >= 3 ?', 'return count >= 3_000 ?'),
  mutant('L9', 'report-after-a-start-wakes-nobody', evolve, '    if (given === route) turn.routes.push(route);\n', ''),
  byTest(
    mutant(
      'L9',
      'unknown-line-counts-as-a-known-one',
      'reconcile/foldSnapshot.ts',
      'if (route !== undefined) known += 1;',
      'known += 1;',
    ),
  ),
  byTest(
    mutant(
      'L9',
      'silence-is-heard-of-nobody-alone',
      'reconcile/foldSnapshot.ts',
      'complete && known < routes.size',
      'complete && known === 0',
    ),
  ),
  byTest(
    mutant(
      'L9',
      'outcome-that-changed-nothing-ends-it',
      engine,
      '    if (!this.#ended)\n      this.#perform(',
      '    if (this.#ended)\n      this.#perform(',
    ),
  ),
  mutant(
    'L10',
    'poll-asks-nobody',
    evolve,
    "return event.data.reason === 'poll' ? wish(turn, atMs) : undefined;",
    'return undefined;',
  ),
  mutant(
    'L18',
    'change-keeps-the-generation',
    attempts,
    'count: context.count + 1,',
    'count: context.count + (context.overlay === null ? 0 : 1),',
  ),
  mutant(
    'L18',
    'another-connection-is-the-same',
    belief,
    'return a.connectionVersion === b.connectionVersion && a.connectionIdHash === b.connectionIdHash;',
    'return a.connectionVersion === b.connectionVersion;',
  ),
  mutant(
    'L19',
    'one-effect-at-a-time',
    performing,
    "if (!onlyClosing || effect.kind === 'closeRoute') this.#begin(state, effect);",
    "if ((!onlyClosing || effect.kind === 'closeRoute') && this.#groups.size === 0) this.#begin(state, effect);",
  ),

  mutant(
    'L3',
    'reset-tells-no-route',
    evolve,
    "for (const route of [...(turn.state.routes.get(account)?.values() ?? [])]) turn.give(route, { type: 'adopted' });",
    '',
  ),

  // Surviving.
  mutant(
    'L12',
    'start-keeps-handles',
    evolve,
    'for (const route of [...openRoutes(turn.state)]) turn.putRoute({ ...route, handles: [] });',
    '',
  ),
  mutant(
    'L12',
    'start-lowers-the-fence',
    evolve,
    'turn.putRoute({ ...route, handles: [] });',
    'turn.putRoute({ ...route, handles: [], fence: null });',
  ),
  mutant(
    'L12',
    'start-forgets-belief',
    evolve,
    "  turn.upheaved.push('');\n",
    "  turn.upheaved.push('');\n  for (const one of [...allRoutes(turn.state)]) turn.give(one, { type: 'adopted' });\n",
  ),
  mutant(
    'L13',
    'unwritten-is-forgotten',
    engine,
    'this.#unwritten = this.#unwritten.concat(events);',
    'this.#unwritten = [...events];',
  ),
  mutant('L13', 'noise-is-not-taken-back', engine, '        turn.takeBack();\n', ''),
  mutant('L13', 'recovered-log-shows-nothing', engine, '    if (wasReadOnly && !this.readOnly) this.#recover();\n', ''),
  byTest(
    mutant(
      'L13',
      'hash-misses-accounts',
      'reconcile/hash.ts',
      'if (map === this.#state.accounts) return accountText(record as AccountRecord);',
      'if (map === this.#state.accounts) return null;',
    ),
  ),
  mutant('L13', 'log-skips-its-first-row', 'events/memoryLog.ts', 'Math.max(from, 1)', 'Math.max(from, 2)'),
  mutant(
    'L13',
    'log-counts-from-zero',
    'events/memoryLog.ts',
    'const position = this.#events.length + 1;',
    'const position = Math.max(1, this.#events.length);',
  ),
  mutant(
    'L13',
    'id-heard-before-is-new',
    engine,
    ' || log.positionOf(event.id) !== undefined) continue;',
    ') continue;',
  ),
  mutant(
    'L14',
    'runs-what-is-running',
    performing,
    'return owed.filter((effect) => !running.has(effectText(effect)));',
    'return [...owed];',
  ),
  mutant('L14', 'broken-performer-is-silence', performing, '() => done(brokenOutcome(effect)),', '() => undefined,'),

  // Secrets and side effects: broken outside of the core, and noticed by the tests of their laws.
  byTest(
    mutant(
      'L16',
      'an-event-may-say-more',
      'events/catalogue.ts',
      "'hints.lost': z.strictObject({",
      "'hints.lost': z.looseObject({",
    ),
  ),
  byTest(
    mutant(
      'L17',
      'failed-call-is-made-again',
      'protocol/client.ts',
      'if (first.ok || first.failure.code !== -32020) return first;',
      'if (first.ok) return first;',
    ),
  ),
];
