/**
 * Lets the official suite start on Node 20. It imports `globSync` from `fs`, which Node has from 22 on, for one command that is never
 * run here; an import that can't be linked stops the whole program. Only the suite's own `fs` is another: everything of the real one,
 * and a `globSync` that says why it is none. No file is changed.
 *
 * Use: `node --import ./test/conformance/node20.mjs .../conformance/dist/index.js`.
 */
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const source = `export * from 'node:fs';
export { default } from 'node:fs';
export function globSync() { throw new Error('fs.globSync needs Node 22'); }`;
const withGlob = `data:text/javascript,${encodeURIComponent(source)}`;

// This module is both: imported by the program it registers itself as the hooks, and as the hooks it only resolves.
if (isMainThread) register(import.meta.url);

export function resolve(specifier, context, next) {
  const ofSuite = context.parentURL?.endsWith('/conformance/dist/index.js') === true;
  return ofSuite && specifier === 'fs' ? { url: withGlob, shortCircuit: true } : next(specifier, context);
}
