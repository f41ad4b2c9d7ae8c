import { moveDemo } from '../demo.ts';
import type { CommonOptions, Run } from '../program.ts';

/** `demo hints on|off`: without hints the daemon learns of a change by its poll. */
export const run: Run<CommonOptions, ['on' | 'off']> = (asked, flow) =>
  moveDemo(
    asked,
    'proxy',
    { hints: flow === 'on' },
    flow === 'on' ? 'Hints flow.' : 'Hints are cut: only the poll is left.',
  );
