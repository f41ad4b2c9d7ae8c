import { EXIT } from '../exit.ts';
import { columns } from '../output.ts';
import { pathsOf } from '../paths.ts';
import type { Run } from '../program.ts';

/** Where things lie, whether or not they exist. */
export const run: Run = async ({ options, output }) => {
  const paths = pathsOf(process.env, options.state);
  output.result({ ...paths }, () => columns(Object.entries(paths)));
  return Promise.resolve(EXIT.ok);
};
