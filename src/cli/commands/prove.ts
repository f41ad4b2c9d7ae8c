import { fullWorlds, prove, shortWorlds, type CounterExample } from '../../simulate/index.ts';
import { CommandError, EXIT } from '../exit.ts';
import type { CommonOptions, Run } from '../program.ts';
import { cpuSeconds, rssMiB } from '../resources.ts';

const sets = { full: fullWorlds, short: shortWorlds } as const;
export type WorldSet = keyof typeof sets;
type Options = CommonOptions & { readonly set: WorldSet; readonly world?: string };

/** Explores small worlds to their last state. Exit 3 with the shortest way to a broken law, or when a world had no end. */
export const run: Run<Options> = async ({ options, output }) => {
  const worlds = chosen(options);
  const onProgress = (world: string, states: number, depth: number): void => {
    if (states > 0) output.note(`${world}: ${String(states)} states, depth ${String(depth)}`);
  };
  const proof = prove({ worlds, onProgress });
  const [cpu, memory] = [cpuSeconds(), rssMiB()];
  output.result({ ...proof, cpuSeconds: cpu, rssMiB: memory }, () => {
    const lines = proof.worlds.map(
      (one) =>
        `${one.name}: ${String(one.states)} states, ${String(one.edges)} edges, depth ${String(one.depth)}; ${String(one.unsafe)} unsafe, ${String(one.stuck)} stuck${one.complete ? '' : ', not explored to the end'}`,
    );
    return [
      ...proof.counterExamples.map(exampleText),
      ...lines,
      `${cpu.toFixed(1)} CPU seconds, ${String(memory)} MiB`,
    ].join('\n');
  });
  const holds = proof.unsafe === 0 && proof.stuck === 0 && proof.complete;
  return Promise.resolve(holds ? EXIT.ok : EXIT.problems);
};

function chosen({ set, world }: Options): (typeof sets)[WorldSet] {
  const worlds = sets[set].filter(({ name }) => world === undefined || name === world);
  if (worlds.length > 0) return worlds;
  const names = sets[set].map(({ name }) => name).join(', ');
  throw new CommandError(EXIT.usage, `no world of this set is called ${String(world)}`, `there are: ${names}`);
}

/** As people read a log, and as a test to paste. */
function exampleText({ world, law, text, transcript, test }: CounterExample): string {
  return [`${world}: ${law}: ${text}`, transcript, test].join('\n\n');
}
