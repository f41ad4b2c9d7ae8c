import { setTimeout as after } from 'node:timers/promises';
import type { StatusDocument } from '../statusText.ts';

const LOOKS = 60;
const LOOK_MS = 100;

/** The status once nothing is being opened any more; after some patience, as it is. */
export async function settledStatus(look: () => Promise<StatusDocument>): Promise<StatusDocument> {
  let status = await look();
  for (let i = 0; i < LOOKS && !isSettled(status); i++) {
    await after(LOOK_MS);
    status = await look();
  }
  return status;
}

function isSettled({ account, routes }: StatusDocument): boolean {
  return (
    routes.every(({ state }) => state !== 'opening' && state !== 'closing') && (account === null || account.synced)
  );
}
