/**
 * Who may talk to the local server: one bearer for each agent, 256 random bits, never in an argument, a log or an answer. Only its
 * SHA-256 is kept in memory, and every comparison takes the same time whatever is sent (reliability C3).
 */
import { setMaxListeners } from 'node:events';
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** One agent's right to talk to the server. */
export interface Binding {
  readonly id: string;
  readonly label: string;
  /** Aborted when the right is withdrawn. */
  readonly revoked: AbortSignal;
}

interface Held {
  readonly binding: Binding;
  readonly digest: Buffer;
  readonly controller: AbortController;
}

export class Bindings {
  readonly #held = new Map<string, Held>();

  /** Admits an agent. `token` restores the one it has already. */
  admit(id: string, label: string, token: string = newToken()): string {
    this.revoke(id);
    const controller = new AbortController();
    // Every request of the agent listens to it: many listeners are no leak here.
    setMaxListeners(0, controller.signal);
    this.#held.set(id, { binding: { id, label, revoked: controller.signal }, digest: digest(token), controller });
    return token;
  }

  revoke(id: string): void {
    this.#held.get(id)?.controller.abort(new Error('the agent is no longer admitted'));
    this.#held.delete(id);
  }

  list(): readonly Binding[] {
    return [...this.#held.values()].map(({ binding }) => binding);
  }

  /** The binding of an `Authorization` header; looks at all of them, so that time does not tell which came close. */
  of(authorization: string | undefined): Binding | undefined {
    const token = /^Bearer ([A-Za-z0-9_-]{1,128})$/i.exec(authorization ?? '')?.[1];
    const given = digest(token ?? '');
    const found = [...this.#held.values()].filter((held) => timingSafeEqual(held.digest, given));
    return token === undefined ? undefined : found[0]?.binding;
  }
}

/** 32 random bytes, as text for a header. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
