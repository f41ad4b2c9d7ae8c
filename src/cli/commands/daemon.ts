import { daemonConfigSchema, openDaemon } from '../../host/index.ts';
import { configured } from '../configured.ts';
import { openLog } from '../log.ts';
import { pathsOf } from '../paths.ts';
import type { Run } from '../program.ts';
import { serve } from '../serve.ts';
import { version } from '../version.ts';

/** `dacapo daemon`: the hands and ears, until it is told to stop. Exit 6 when another daemon has the state directory. */
export const run: Run = ({ options, output }) =>
  serve(output, async () => {
    const found = configured('daemon', daemonConfigSchema.partial(), options, { stateDir: options.state });
    const { state } = pathsOf(process.env, options.state);
    const config = daemonConfigSchema.parse({ stateDir: state, hostVersion: version, ...found });
    const daemon = await openDaemon(config, { log: openLog(options) });
    const { mcpUrl, controlSocket, failed, close } = daemon;
    return {
      ready: { mcpUrl, controlSocket },
      text: `The daemon serves MCP at ${mcpUrl}; commands reach it at ${controlSocket}.`,
      failed,
      close,
    };
  });
