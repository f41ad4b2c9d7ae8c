/** The tales behind the golden transcripts, each a thing that happens to people. */
import { connected, disconnected, morning, reauth, Tale } from './tale.ts';

const MINUTE = 60_000;

export const tales: Readonly<Record<string, () => Promise<Tale>>> = {
  /** Connected in the morning, revoked on the server at noon; a hint tells. */
  'connect-and-revoke': async () => {
    const tale = new Tale().install('docs').signIn('ann');
    await tale.read(4, { docs: disconnected(0) });
    tale.wait(20_000).say({
      type: 'authorization.ended',
      data: {
        account: 'ann',
        epoch: tale.engine.active?.epoch ?? 1,
        connector: 'docs',
        outcome: 'succeeded',
        connectionIdHash: 'h1',
        reason: null,
      },
    });
    await tale.read(5, { docs: connected(1) });
    await tale.open('docs');
    tale.wait(40_000).hint(6);
    await tale.read(6, { docs: disconnected(1) });
    return tale.close('docs');
  },

  /** The provider revokes a key; a call finds out; the account connects anew. */
  'rejected-then-reconnected': async () => {
    const tale = await morning();
    tale.wait(30_000).refuse('docs');
    await tale.close('docs');
    await tale.read(6, { docs: reauth(1) });
    tale.wait(50_000).hint(7);
    await tale.read(7, { docs: connected(2) });
    await tale.open('docs', 3);
    return tale.wait(1_000);
  },

  /** A call is refused, yet the server goes on saying connected: held off, then tried once more. */
  'rejected-by-mistake': async () => {
    const tale = await morning();
    tale.wait(30_000).refuse('docs');
    await tale.close('docs');
    await tale.read(5, { docs: connected(1) });
    tale.wait(3_000);
    return tale.open('docs');
  },

  /** ann, then bob, then ann again; a reply for ann's first sign-in comes late. */
  'account-switch': async () => {
    const tale = await morning();
    tale.wait(10_000).poll();
    const late = tale.engine.active;
    tale.wait(20).signIn('bob');
    await tale.failRead('aborted');
    await tale.close('docs');
    await tale.read(3, {});
    tale.wait(5_000).signIn('ann');
    tale.say({
      type: 'call.rejected',
      data: {
        account: 'ann',
        epoch: late?.epoch ?? 1,
        connector: 'docs',
        generation: 'docs-1.1.0',
        stamp: null,
        code: 428,
      },
    });
    await tale.read(5, { docs: connected(1) });
    return tale.open('docs');
  },

  /** The daemon is killed with routes open, and started again. */
  restart: async () => {
    const tale = await (await morning()).wait(60_000).restart();
    tale.install('files', 'stdio').install('docs');
    await tale.open('files', 14);
    tale.signIn('ann');
    await tale.read(5, { docs: connected(1) });
    return tale.open('docs');
  },

  /** The channel of hints is lost, and with it the news; the poll brings it. */
  'lost-hints': async () => {
    const tale = await morning();
    tale.wait(30_000).say({ type: 'hints.lost', data: { incarnation: 'ws1', reason: 'no pong in time' } });
    tale.wait(4 * MINUTE).poll();
    await tale.failRead('connect timeout');
    tale.wait(2_000);
    await tale.read(6, { docs: reauth(1) });
    return tale.close('docs');
  },

  /** Two replicas of the server tell different things of one revision. */
  'torn-revision': async () => {
    const tale = await morning();
    tale.wait(10_000).hint(null);
    await tale.read(5, { docs: reauth(1) });
    await tale.close('docs');
    tale.wait(MINUTE);
    await tale.read(5, { docs: connected(1) });
    tale.wait(MINUTE).hint(6);
    await tale.read(6, { docs: connected(1) });
    return tale.open('docs');
  },

  /** The server comes back from a backup: its revisions begin below what was read of it. */
  'restored-server': async () => {
    const tale = await morning();
    tale.wait(10_000).poll();
    await tale.read(2, { docs: disconnected(1) });
    tale.wait(MINUTE + 100);
    await tale.read(2, { docs: disconnected(1) });
    tale.wait(MINUTE + 100);
    await tale.read(2, { docs: disconnected(1) });
    return tale.close('docs');
  },

  /** The user disconnects here; a read that began before the answer must not bring the route back. */
  dropped: async () => {
    const tale = await morning();
    tale.wait(10_000).poll();
    tale.wait(10).drop('docs');
    await tale.read(5, { docs: connected(1) });
    await tale.close('docs');
    tale.wait(200).dropped('docs', 6);
    await tale.read(5, { docs: connected(1) });
    tale.wait(2_000);
    return tale.read(6, { docs: disconnected(1) });
  },

  /** Another release comes, does not open at first, and then does. */
  'new-release': async () => {
    const tale = await morning();
    tale.wait(10_000).say({
      type: 'connector.installed',
      data: {
        connector: 'docs',
        release: { version: '1.1.0', digest: 'docs-2' },
        kind: 'remote',
        authorization: 'api_key',
        enabled: true,
        incompatible: null,
      },
    });
    await tale.close('docs');
    await tale.failOpen('docs', 'unavailable', 'HTTP 503');
    tale.wait(2_000);
    return tale.open('docs', 5);
  },
};
