import { moveDemo } from '../demo.ts';
import type { CommonOptions, Run } from '../program.ts';

/** `demo snapshot on|off`: without snapshots the daemon keeps what it knows until that is too old. */
export const run: Run<CommonOptions, ['on' | 'off']> = (asked, flow) =>
  moveDemo(asked, 'proxy', { snapshot: flow === 'on' }, flow === 'on' ? 'Snapshots flow.' : 'Snapshots fail with 503.');
