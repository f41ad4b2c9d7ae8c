/** A process that lives a life on a log until the shim ends it: LOG LIFE SAID BEFORE. What it acknowledged stands in SAID. */
import { writeFileSync } from 'node:fs';
import { live, type Acknowledged, type LifeName } from './workload.ts';

const [path, life, said, before] = process.argv.slice(2) as [string, LifeName, string, string];
const acknowledge = (all: Acknowledged): void => writeFileSync(said, JSON.stringify(all));
const log = await live(path, life, { acknowledge }, JSON.parse(before) as Acknowledged);
log.close();
