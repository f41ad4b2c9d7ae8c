/** Prints the digest of one simulated seed: what another time zone, language or Node version must agree with. */
import { optionsOf, run } from '../../src/simulate/index.ts';

const { digest } = await run(optionsOf(Number(process.argv[2])));
process.stdout.write(`${digest}\n`);
