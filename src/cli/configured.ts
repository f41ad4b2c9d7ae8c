/** Loads the section of one command, from the places that its options and the environment name. */
import type { z } from 'zod';
import { loadConfig, type Section } from './config.ts';
import { pathsOf } from './paths.ts';
import type { CommonOptions } from './program.ts';

/** `flags` are values of the section that the command line gives. */
export function configured<Schema extends z.ZodType>(
  section: Section,
  schema: Schema,
  options: CommonOptions,
  flags: Readonly<Record<string, unknown>> = {},
): z.output<Schema> {
  const file = options.config ?? process.env['DACAPO_CONFIG'];
  const { config } = pathsOf(process.env, options.state);
  return loadConfig({
    section,
    schema,
    file: file ?? config,
    named: file !== undefined,
    environment: process.env,
    flags,
  }).value;
}
