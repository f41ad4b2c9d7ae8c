/** The same tools as a process: `everythingStdio.ts PREFIX`. */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { everything } from './everything.ts';

serveStdio(() => everything(process.argv.at(-1) ?? '', true));
