import { memoryLog } from '../../src/events/index.ts';
import { logContract } from './logContract.ts';

logContract('the log in memory', () => Promise.resolve(memoryLog()));
