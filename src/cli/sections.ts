/**
 * Sections of the configuration file for the server's two processes. Secrets never stand in it: it names the files that hold them.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { bindingSchema } from '../authority/bindings.ts';
import { CommandError, EXIT } from './exit.ts';

const text = z.string().min(1).max(4096);
const address = z.string().regex(/^(127\.0\.0\.1|\[::1\]):\d{1,5}$/, 'expected 127.0.0.1:PORT');
const rpcAddress = z
  .string()
  .regex(/^unix:.+|^(127\.0\.0\.1|\[::1\]):\d{1,5}$/, 'expected unix:/path or 127.0.0.1:PORT');

export const authorityConfigSchema = z.strictObject({
  /** Store and, unless it is named, key file. Made with mode 0700. */
  stateDir: text,
  controlAddress: address.default('127.0.0.1:0'),
  adminAddress: address.default('127.0.0.1:0'),
  /** Where gateways ask. Without it: a unix socket in the state directory. */
  rpcAddress: rpcAddress.optional(),
  /** Shared with the gateways; needed where `rpcAddress` is no unix socket. */
  rpcSecretFile: text.optional(),
  /** Opens the operator's door; at least 32 characters. */
  adminTokenFile: text,
  /** The key encryption keys; default: in the state directory, made at the first start. */
  kekFile: text.optional(),
  /** Added when missing, never changed or removed. */
  accounts: z
    .array(z.strictObject({ id: text.max(191), displayName: text.max(191) }))
    .max(10_000)
    .default([]),
  /** Published when they say something new. */
  bindings: z.array(bindingSchema).max(1_000).default([]),
});

export const gatewayConfigSchema = z.strictObject({
  host: text.default('127.0.0.1'),
  port: z.number().int().min(0).max(65_535).default(0),
  /** `Host` values that are answered; default: the loopback names, or any when not on loopback. */
  hosts: z.array(text).max(64).optional(),
  /** `Origin` values that are answered besides the gateway's own. */
  origins: z.array(text).max(64).optional(),
  /** Where the authority answers. */
  rpcAddress,
  rpcSecretFile: text.optional(),
});

/** The secret in a file, without the line break an editor leaves. Throws a CommandError (2) that does not repeat it. */
export function secretFrom(file: string): string {
  try {
    const secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    if (secret !== '') return secret;
  } catch (error) {
    throw new CommandError(
      EXIT.usage,
      `the secret can't be read: ${(error as Error).message}`,
      'put it into that file',
    );
  }
  throw new CommandError(EXIT.usage, `${file} is empty`, 'put the secret into that file');
}
