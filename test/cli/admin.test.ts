import { expect, test } from 'vitest';
import { askAdmin } from '../../src/cli/admin.ts';
import { EXIT } from '../../src/cli/exit.ts';
import { adminToken, openWorld } from '../support/authority.ts';

test("what the operator's door turns down is told in its own words, with the exit code of its kind", async () => {
  const world = await openWorld();
  const admin = { url: world.authority.adminUrl, token: adminToken };
  await expect(askAdmin(admin, '/v1/accounts/ann/connectors/everything/rotate', {})).rejects.toMatchObject({
    exit: EXIT.failed,
    message: expect.stringContaining('connect it first') as string,
  });
  await expect(askAdmin({ ...admin, token: 'x' }, '/v1/accounts/ann/sessions', {})).rejects.toMatchObject({
    exit: EXIT.unauthorized,
    message: expect.stringContaining('Send the admin token') as string,
  });
  await world.close();
  await expect(askAdmin(admin, '/v1/accounts/ann/sessions', {})).rejects.toMatchObject({ exit: EXIT.unavailable });
});
