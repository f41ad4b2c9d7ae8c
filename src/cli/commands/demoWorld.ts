import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { NotInstalled, runAuthorityProxy, runBusinessServer, type DemoServer } from '../../demo/index.ts';
import type { CommonOptions, Run } from '../program.ts';
import { serve } from '../serve.ts';

const port = z.number().int().min(0).max(65_535);
/** What `up` writes for this child. */
export const demoWorldSchema = z.strictObject({
  directory: z.string(),
  businessPort: port,
  proxyPort: port,
  /** The authority's control plane, before which the proxy stands. */
  target: z.string(),
});

/** The outside world of `up`, as a process of its own: business server and proxy. Not for people, hence not in the help. */
export const run: Run<CommonOptions, [string]> = ({ output }, file) =>
  serve(output, async () => {
    const { directory, businessPort, proxyPort, target } = demoWorldSchema.parse(
      JSON.parse(readFileSync(file, 'utf8')),
    );
    const proxy = await runAuthorityProxy({ directory, port: proxyPort, target });
    const business = await businessIfInstalled({ directory, port: businessPort });
    return {
      ready: { proxyUrl: proxy.url, businessUrl: business?.url ?? null },
      text: `The demo's proxy answers at ${proxy.url}.`,
      close: async () => {
        await Promise.all([proxy.close(), business?.close()]);
      },
    };
  });

/** The public server is optional: without it the connector is there, and what is behind it is away. */
async function businessIfInstalled(options: Parameters<typeof runBusinessServer>[0]): Promise<DemoServer | null> {
  try {
    return await runBusinessServer(options);
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error;
    process.stderr.write(`${error.message}\n`);
    return null;
  }
}
