/** The public servers of the demo are optional: whoever runs the product in earnest does not need them. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

export const demoPackages = {
  everything: '@modelcontextprotocol/server-everything',
  files: '@modelcontextprotocol/server-filesystem',
  memory: '@modelcontextprotocol/server-memory',
} as const;

const places = (name: string): readonly string[] => createRequire(import.meta.url).resolve.paths(name) ?? [];
const isInstalled = (name: string): boolean =>
  places(name).some((place) => existsSync(join(place, name, 'package.json')));

/** One npm line that brings what is missing, or undefined when nothing is. */
export function missingLine(isThere: (name: string) => boolean = isInstalled): string | undefined {
  const missing = Object.values(demoPackages).filter((name) => !isThere(name));
  return missing.length === 0 ? undefined : `for the whole demo: npm install ${missing.join(' ')}`;
}
