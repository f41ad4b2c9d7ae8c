/** Signs the demo's accounts in at the authority, and puts each login where the daemon looks for it. */
import { z } from 'zod';
import { askAdmin, type Admin } from '../admin.ts';
import { writePrivate } from './directory.ts';
import { demoAccounts, type Layout } from './plan.ts';

const issuedSchema = z.object({
  session: z.object({ session_id: z.string(), cookie: z.string(), user_id: z.string() }),
});

/** Every demo account has a fresh login afterwards: an older one may be of a store that is no more. */
export async function signIn(admin: Admin, { sessionFile }: Layout): Promise<void> {
  for (const account of demoAccounts) {
    const { session } = issuedSchema.parse(await askAdmin(admin, `/v1/accounts/${account}/sessions`, {}));
    writePrivate(sessionFile.replace('{account}', account), JSON.stringify(session));
  }
}
