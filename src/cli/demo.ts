/** Moves the demo's outside world, through the doors that `up` left open in the state directory. */
import { join } from 'node:path';
import { changeSettings, type DemoName } from '../demo/index.ts';
import { EXIT, type ExitCode } from './exit.ts';
import type { Output } from './output.ts';
import { pathsOf } from './paths.ts';
import type { CommonOptions } from './program.ts';

/** Where the demo of a state directory keeps its settings and the addresses of its doors. */
export const demoDirectory = (state: string): string => join(state, 'demo');

interface Asked {
  readonly options: CommonOptions;
  readonly output: Output;
}

/** Changes one demo server and says what it now does. Throws DemoNotRunning and SettingsRefused. */
export async function moveDemo(
  { options, output }: Asked,
  name: DemoName,
  patch: Readonly<Record<string, unknown>>,
  text: string,
): Promise<ExitCode> {
  await changeSettings(demoDirectory(pathsOf(process.env, options.state).state), name, patch);
  // The key that is accepted stays out of what is printed: it is what a person just typed, and a secret all the same.
  output.result({ changed: name }, () => text);
  return EXIT.ok;
}
