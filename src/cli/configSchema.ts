import { z } from 'zod';
import { daemonConfigSchema } from '../host/config.ts';
import { authorityConfigSchema, gatewayConfigSchema } from './sections.ts';

/** The JSON Schema of the whole configuration file, put together from the sections that the rooms own. */
export function configSchema(): Readonly<Record<string, unknown>> {
  const file = z.strictObject({
    daemon: daemonConfigSchema.partial().optional(),
    gateway: gatewayConfigSchema.partial().optional(),
    authority: authorityConfigSchema.partial().optional(),
  });
  const schema = z.toJSONSchema(file, { io: 'input', unrepresentable: 'any' });
  return { ...schema, title: 'Configuration of dacapo (config.yaml)' };
}
