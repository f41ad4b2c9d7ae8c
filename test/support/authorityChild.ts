/** An authority in a process of its own, busy with changes until it is killed. Tells its parent what it answered last. */
import { openWorld } from './authority.ts';

const world = await openWorld({ stateDir: process.argv[2] ?? '' });
const ann = await world.signIn('ann');
await ann.connect('kept');
const { revision } = await ann.snapshot();
process.send?.({ revision, token: ann.token });
for (;;) await world.admin('POST', '/v1/accounts/ann/connectors/everything/rotate', {});
