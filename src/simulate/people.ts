/** People: they switch accounts, connect and disconnect, install and remove, and their agents call tools. */
import { uint64, type Fact } from '../events/index.ts';
import { action, type Action } from './actions.ts';
import type { Fault } from './faults.ts';
import { ACCOUNTS, type World } from './world.ts';

const bound: readonly string[] = ['docs', 'mail'];
/** Device items that change. What can never be served stays as it is. */
const movable: readonly string[] = ['docs', 'mail', 'news', 'files'];

export const people: readonly Action[] = [
  action(10, (world) => world.use(world.random.pick([...ACCOUNTS, world.login]))),
  action(12, switchAccount),
  action(4, (world) => may(world, 'signed-out') && world.use(null)),
  action(4, thereAndBack),
  action(4, switchTwice),
  action(3, (world) => world.login !== null && may(world, 'same-account-anew') && world.use(world.login)),
  action(70, connect),
  action(16, disconnect),
  action(300, call),
  action(8, toggle),
  action(10, upgrade),
  action(5, releaseThereAndBack),
  action(3, removeOrInstall),
  action(4, incompatible),
];

/** Counts a fault that is an act, if its switch is on. */
function may(world: World, fault: Fault): boolean {
  return world.isUp && world.weather.strikes(fault);
}

/** Leaves the account in the middle of whatever is under way. */
function switchAccount(world: World): void {
  const kinds = new Set(world.life.running.map(({ kind }) => kind));
  const moments: readonly (readonly [Fault, boolean])[] = [
    ['switch-in-fetch', kinds.has('fetchSnapshot')],
    ['switch-in-open', kinds.has('openRoute')],
    ['switch-in-close', kinds.has('closeRoute')],
  ];
  const met = moments.filter(([fault, now]) => now && world.weather.strikes(fault));
  if (met.length > 0 && world.isUp) world.use(world.random.pick(ACCOUNTS.filter((account) => account !== world.login)));
}

/** A → B → A inside one round trip: the answers of the first A come home under the third login. */
function thereAndBack(world: World): void {
  const { login } = world;
  if (login === null || !may(world, 'switch-there-and-back')) return;
  world.use(login === 'ann' ? 'bob' : 'ann');
  world.clock.in(world.random.between(1, 20), () => world.use(login));
}

function switchTwice(world: World): void {
  if (may(world, 'switch-twice-at-once'))
    world.use(world.random.pick(ACCOUNTS), world.random.pick([...ACCOUNTS, null]));
}

/** The person connects, here or on another machine; here the end of the authorization is heard too. */
function connect(world: World): void {
  const { random, server } = world;
  const account = world.login ?? random.pick(ACCOUNTS);
  const connector = random.pick(bound);
  const revision = server.connect(account, connector);
  world.channel.announce(account, connector, revision);
  const epoch = world.life.engine?.active?.epoch;
  if (epoch === undefined || !random.chance(0.5)) return;
  const ended: Fact = {
    type: 'authorization.ended',
    data: { account, epoch, connector, outcome: 'succeeded', connectionIdHash: null, reason: null },
  };
  world.clock.in(random.between(0, 200), () => world.accept(ended));
}

/** The person disconnects here: withdrawn at once, asked of the server, answered or not. */
function disconnect(world: World): void {
  const { random, weather, clock } = world;
  const active = world.life.engine?.active;
  if (active == null) return;
  const of = { account: active.account, epoch: active.epoch, connector: random.pick(bound) };
  world.accept({ type: 'connection.dropping', data: of });
  const { life } = world;
  // Whoever asked is gone with its process, or with its login and some of the time: nobody is there for the answer.
  const answer = (fact: Fact): void => {
    const gone = world.life !== life || world.life.engine?.active?.epoch !== active.epoch;
    if (!gone || !weather.strikes('drop-answer-lost')) world.accept(fact);
  };
  const failed = weather.strikes('drop-failed');
  clock.in(world.network.latencyMs(), () => {
    const revision = failed ? null : world.server.revoke(of.account, of.connector);
    if (revision !== null) world.channel.announce(of.account, of.connector, revision);
    const named = revision === null || weather.strikes('drop-unnumbered') ? null : uint64(revision);
    clock.in(world.network.latencyMs(), () =>
      answer(
        failed
          ? { type: 'connection.dropFailed', data: { ...of, reason: 'HTTP 503' } }
          : { type: 'connection.dropped', data: { ...of, revision: named } },
      ),
    );
  });
}

/** An agent calls a tool that it sees. The refusal names what was true when the call began. */
function call(world: World): void {
  const { random, weather, network, clock } = world;
  const { engine } = world.life;
  const shown = [...(engine?.table.values() ?? [])].filter(({ account }) => account !== null);
  if (engine === null || shown.length === 0) return;
  const { account, connector, generation, epoch, stamp } = random.pick(shown);
  if (account === null) return;
  clock.in(network.latencyMs() + (random.chance(0.2) ? 8_000 : 0), () => {
    if (weather.strikes('call-failed')) return;
    const refusal = network.refusal(account, connector);
    const code = refusal ?? (weather.strikes('call-rejected-falsely') ? -33002 : null);
    if (code === null) return;
    const current = world.life.engine?.table.get(`${account}/${connector}`);
    const late = current?.generation !== generation || current.epoch !== epoch;
    if (refusal === null || weather.strikes(late ? 'call-rejected-late' : 'call-rejected'))
      world.accept({ type: 'call.rejected', data: { account, connector, generation, epoch, stamp, code } });
  });
}

function toggle(world: World): void {
  const items = world.items.filter(({ connector }) => movable.includes(connector));
  const of = items.find(({ enabled }) => !enabled) ?? world.random.pick(items);
  of.enabled = !of.enabled;
  if (of.present) world.accept({ type: 'connector.toggled', data: { connector: of.connector, enabled: of.enabled } });
}

function upgrade(world: World): void {
  const of = world.random.pick(world.items);
  of.release++;
  world.reportItem(of.connector);
}

/** A → B → A while an opening of the first A is still on its way. */
function releaseThereAndBack(world: World): void {
  const of = world.items.find(({ connector }) => connector === world.random.pick(movable));
  if (of === undefined || !may(world, 'release-there-and-back')) return;
  const first = of.release;
  of.release = first + 1;
  world.reportItem(of.connector);
  world.clock.in(world.random.between(1, 30), () => {
    of.release = first;
    world.reportItem(of.connector);
  });
}

function removeOrInstall(world: World): void {
  const of = world.items.find(({ present }) => !present) ?? world.random.pick(world.items);
  of.present = !of.present;
  world.reportItem(of.connector);
}

function incompatible(world: World): void {
  const items = world.items.filter(({ connector }) => movable.includes(connector));
  const of = items.find((one) => one.incompatible) ?? world.random.pick(items);
  if (!of.incompatible && !may(world, 'release-incompatible')) return;
  of.incompatible = !of.incompatible;
  world.reportItem(of.connector);
}
