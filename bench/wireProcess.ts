/** One part of the bench: `wireProcess.ts ROLE OPTIONS`. Opens what the role names, tells where, and answers questions until its end. */
import { run, sendBad } from './wireCallers.ts';
import type { Question } from './wirePart.ts';
import { open, type Address, type PlaceOptions } from './wirePlaces.ts';

const [role = '', options = '{}'] = process.argv.slice(2);
const caller = /^caller (.*)$/.exec(role)?.[1];
const nowhere: Address = { url: '', headers: {}, tool: 'echo' };
const place = caller === undefined ? await open(role, JSON.parse(options) as PlaceOptions) : nowhere;

process.on('message', (question: Question) => void answer(question));
process.on('SIGTERM', () => process.exit(0));
// Whoever started it is gone.
process.on('disconnect', () => process.exit(0));
process.send?.(place);

async function answer({ what, options: asked }: Question): Promise<void> {
  process.send?.(await outcome(what, asked));
}

function outcome(what: string, asked: object): unknown {
  if (what === 'cpu') return process.cpuUsage();
  if (what === 'held') return held();
  return what === 'bad' ? sendBad(asked as Parameters<typeof sendBad>[0]) : run(caller ?? '', asked as Parameters<typeof run>[1]); // prettier-ignore
}

function held(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
