import { moveDemo } from '../demo.ts';
import type { CommonOptions, Run } from '../program.ts';

/** `demo key accept KEY`: the business server takes this key and no other. */
export const run: Run<CommonOptions, [string]> = (asked, key) =>
  moveDemo(asked, 'business', { acceptedKey: key }, 'The business server accepts that key, and no other.');
