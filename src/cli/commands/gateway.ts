import { openAuthorityClient, openGateway } from '../../gateway/index.ts';
import { configured } from '../configured.ts';
import { openLog } from '../log.ts';
import type { Run } from '../program.ts';
import { gatewayConfigSchema, secretFrom } from '../sections.ts';
import { serve } from '../serve.ts';
import { version } from '../version.ts';

/** `dacapo gateway`: the server's door, until it is told to stop. */
export const run: Run = ({ options, output }) =>
  serve(output, async () => {
    const { rpcAddress, rpcSecretFile, host, port, hosts, origins } = configured(
      'gateway',
      gatewayConfigSchema,
      options,
    );
    const peer = rpcSecretFile === undefined ? {} : { peerSecret: secretFrom(rpcSecretFile) };
    const authority = openAuthorityClient({ address: rpcAddress, ...peer });
    const gateway = await openGateway({
      authority,
      ...{ host, port },
      ...(hosts === undefined ? {} : { hosts }),
      ...(origins === undefined ? {} : { origins }),
      serverInfo: { name: 'dacapo-gateway', version },
      log: openLog(options),
    });
    return {
      ready: { url: gateway.url },
      text: `The gateway answers at ${gateway.url}, and asks ${rpcAddress}.`,
      close: async () => {
        await gateway.close();
        authority.close();
      },
    };
  });
