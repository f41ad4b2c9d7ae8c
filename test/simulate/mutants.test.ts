/** Three bugs that the exhaustive walk must find by itself, and how short the histories are that it tells. */
import { expect, test } from 'vitest';
import { searchMutant } from '../../scripts/mutants.ts';
import { mutants } from '../../scripts/mutantsOfCore.ts';

test.each([
  ['no fence between logins', 'handle-of-another-login-is-shown'],
  ['no order of revisions', 'lower-revisions-are-believed'],
  ['no withdrawal on a switch', 'switch-withdraws-nothing'],
])('%s is found within ten steps', { timeout: 120_000 }, async (_, name) => {
  const found = await searchMutant(mutants.find((mutant) => mutant.name === name)!);
  expect(found?.steps).toBeGreaterThan(0);
  expect(found?.steps).toBeLessThanOrEqual(10);
});
