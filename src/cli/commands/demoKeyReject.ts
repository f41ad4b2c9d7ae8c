import { moveDemo } from '../demo.ts';
import type { Run } from '../program.ts';

/** `demo key reject`: no key is good any more, as if the provider had revoked it. */
export const run: Run = (asked) =>
  moveDemo(asked, 'business', { acceptedKey: null }, 'The business server accepts no key: the next call finds out.');
