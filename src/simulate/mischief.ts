/** Nobody's doing: the server changes and is restored, the process is killed, the disk fills, the clock jumps, a child dies. */
import { RULES } from '../events/index.ts';
import { action, type Action } from './actions.ts';
import type { Fault } from './faults.ts';
import { ACCOUNTS, type World } from './world.ts';

const bound: readonly string[] = ['docs', 'mail'];
const HOUR_MS = 3_600_000;

type Change = 'rotate' | 'revoke' | 'expire' | 'switchDefault' | 'forget' | 'versionBack';

export const mischief: readonly Action[] = [
  action(40, (world) => change(world, 'rotate')),
  action(25, (world) => change(world, 'revoke')),
  action(15, (world) => change(world, 'expire')),
  action(12, (world) => change(world, 'switchDefault')),
  action(5, (world) => change(world, 'forget')),
  action(7, (world) => world.weather.strikes('version-back') && change(world, 'versionBack')),
  action(8, restore),
  action(2, acceptServer),
  action(5, bogusHint),
  action(5, flap),
  action(8, crash),
  action(2, secondWriter),
  action(7, fillDisk),
  action(4, (world) => moveClock(world, 'clock-back', -world.random.between(1, 5) * HOUR_MS)),
  action(3, (world) => moveClock(world, 'clock-ahead', world.random.between(1, 3) * HOUR_MS)),
  action(3, (world) => moveClock(world, 'sleep', 8 * HOUR_MS)),
  action(12, childDies),
  action(12, repeatReply),
];

function change(world: World, what: Change): void {
  const account = world.random.pick(ACCOUNTS);
  const connector = world.random.pick(bound);
  const revision = world.server[what](account, connector);
  world.channel.announce(account, connector, revision);
}

function restore(world: World): void {
  const account = world.random.pick(ACCOUNTS);
  const speaks = world.server.truth(account).serverEpoch !== null;
  if (!world.weather.strikes(speaks ? 'server-restored' : 'server-restored-unsaid')) return;
  world.server.restore(account, world.random.between(1, 3));
}

function acceptServer(world: World): void {
  if (!world.isUp || !world.weather.strikes('server-accepted')) return;
  world.accept({ type: 'server.reset', data: { account: world.random.pick(ACCOUNTS), acceptedBy: 'an operator' } });
}

function bogusHint(world: World): void {
  const account = world.login;
  if (account !== null && world.channel.isOpen && world.weather.strikes('hint-bogus'))
    world.channel.announce(account, null, world.server.truth(account).revision + 1_000_000);
}

function flap(world: World): void {
  if (!world.isUp || world.options.hints === false || !world.weather.strikes('channel-flap')) return;
  for (let i = 0; i < 3; i++) {
    world.channel.lose();
    world.channel.open();
  }
}

function crash(world: World): void {
  if (world.life.running.length > 0 && world.isUp && world.weather.strikes('crash-in-effect')) world.life.kill();
}

/** Somebody else writes: the process must notice at its next write, show nothing and stop. */
function secondWriter(world: World): void {
  if (!world.isUp || world.life.engine?.readOnly !== false || !world.weather.strikes('second-writer')) return;
  const at = Math.max(world.clock.wallMs, world.disk.newestAt);
  const data = { boot: 'intruder', package: 'simulated', rules: RULES };
  world.disk.intrude({ type: 'engine.started', data, id: world.newId(), at, cause: null });
}

function fillDisk(world: World): void {
  if (world.disk.full || !world.weather.strikes('disk-full')) return;
  world.disk.full = true;
  world.clock.in(world.random.between(500, 60_000), () => (world.disk.full = false));
}

function moveClock(world: World, fault: Fault, byMs: number): void {
  if (!world.weather.strikes(fault)) return;
  world.clock.moveWall(byMs);
  if (byMs > 0) world.wake();
}

function childDies(world: World): void {
  const shown = [...(world.life.engine?.table.values() ?? [])];
  if (shown.length === 0 || !world.weather.strikes('child-died')) return;
  const { account, connector, generation, epoch } = world.random.pick(shown);
  world.accept({ type: 'route.exited', data: { account, connector, generation, epoch, reason: 'exit code 1' } });
}

/** A source that hands in a reply once more: as the same event, which changes nothing, or as if it were another. */
function repeatReply(world: World): void {
  const { disk, life } = world;
  if (!world.isUp || !world.weather.strikes('reply-repeated')) return;
  for (const event of disk.log.read(Math.max(1, disk.log.head - 12))) {
    if (event.type !== 'snapshot.received' || 'unknown' in event) continue;
    const { id, at, type, data } = event;
    if (world.random.chance(0.5)) life.engine?.acceptEvents([{ id, at, type, data, cause: null }]);
    else world.accept({ type, data: { ...data } });
    return;
  }
}
