import { CommandError, EXIT } from './exit.ts';

const MOST_BYTES = 16_384;

/** A secret from stdin, without the line break an editor or `echo` leaves. Throws a CommandError (2) that does not repeat it. */
export async function readSecret(): Promise<string> {
  let text = '';
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin as AsyncIterable<string>) {
    text += chunk;
    if (Buffer.byteLength(text) > MOST_BYTES + 2) break;
  }
  const secret = text.replace(/\r?\n$/, '');
  const size = Buffer.byteLength(secret);
  if (size >= 1 && size <= MOST_BYTES) return secret;
  throw new CommandError(
    EXIT.usage,
    `a secret has 1 to ${String(MOST_BYTES)} bytes`,
    'echo SECRET | dacapo connect CONNECTOR --secret-stdin',
  );
}
