import { openAuthority } from '../../authority/index.ts';
import { configured } from '../configured.ts';
import { openLog } from '../log.ts';
import type { Run } from '../program.ts';
import { authorityConfigSchema, secretFrom } from '../sections.ts';
import { serve } from '../serve.ts';

/** `dacapo authority`: the one who decides, until it is told to stop. */
export const run: Run = ({ options, output }) =>
  serve(output, async () => {
    const flags = { stateDir: options.state };
    const { adminTokenFile, rpcSecretFile, accounts, bindings, rpcAddress, kekFile, ...addresses } = configured(
      'authority',
      authorityConfigSchema,
      options,
      flags,
    );
    const authority = await openAuthority({
      ...addresses,
      ...(rpcAddress === undefined ? {} : { rpcAddress }),
      ...(kekFile === undefined ? {} : { kekFile }),
      ...(rpcSecretFile === undefined ? {} : { rpcSecret: secretFrom(rpcSecretFile) }),
      adminToken: secretFrom(adminTokenFile),
      seed: { accounts, bindings },
      log: openLog(options),
    });
    const { controlUrl, wsUrl, adminUrl, rpcAddress: rpc, close } = authority;
    return {
      ready: { controlUrl, hintsUrl: wsUrl, adminUrl, rpcAddress: rpc },
      text: `The authority answers at ${controlUrl} (operators: ${adminUrl}, gateways: ${rpc}).`,
      close,
    };
  });
