import { readFileSync } from 'node:fs';

/** The version of the package this file came with; from src/ and from dist/ alike. */
export const version: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string }
).version;
