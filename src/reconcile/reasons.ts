/** Every reason in words: what it means, and what would change it. Total: a new reason without words does not compile. */
import type { Reason } from './standing.ts';

interface Words {
  readonly means: string;
  readonly wouldChange: string;
}

const words: Readonly<Record<Reason, Words>> = {
  'not-installed': {
    means: 'it is not installed on this device',
    wouldChange: 'install the connector; if it was installed, the daemon has not reported it since its last start',
  },
  incompatible: {
    means: 'this machine cannot run it',
    wouldChange: 'put right the cause that the event of its installation names (`dacapo why`)',
  },
  'local-credential-unsupported': {
    means: 'it is a local connector that needs a credential, and this host cannot hand one to it',
    wouldChange: 'use a release of it that needs no authorization, or a remote one',
  },
  disabled: { means: 'it is switched off on this device', wouldChange: 'enable the connector' },
  dropped: {
    means: 'it was disconnected here, and no read has come yet that can know of it',
    wouldChange: 'a snapshot begun after the answer; then connect it again',
  },
  unknown: {
    means: 'the server has not been read about it since this sign-in',
    wouldChange: 'a snapshot of the account that names it; the next attempt is in `status`',
  },
  unreadable: {
    means: 'its entry in the last snapshot could not be read',
    wouldChange: 'the next snapshot in which its entry is readable',
  },
  'reauth-required': {
    means: 'the server says that its authorization has to be renewed',
    wouldChange: 'connect the connector again',
  },
  disconnected: { means: 'the server says that it is not connected', wouldChange: 'connect the connector' },
  regressed: {
    means: 'the server told an older connection version than it had told before',
    wouldChange:
      'a snapshot with the version told before, or three in a row, a minute apart, that agree on the older one',
  },
  rejected: {
    means: 'a call with it was refused for lack of authorization',
    wouldChange:
      'a snapshot begun after the refusal that says connected: at once on a new connection version, else after the hold-off',
  },
  contract: {
    means: 'what it serves breaks the contract of its release',
    wouldChange: 'a corrected release or server; it is tried again at the time in `status`',
  },
  faulted: {
    means: 'it could not be opened, or its process ended',
    wouldChange: 'the next attempt, at the time in `status`',
  },
  'signed-out': { means: 'no account is signed in', wouldChange: 'sign an account in' },
  'other-account': { means: 'another account is active', wouldChange: 'switch to the account it belongs to' },
  stale: {
    means: 'the account has not been read for an hour',
    wouldChange: 'a snapshot; check that the control plane is reachable',
  },
  'newer-event': {
    means: 'a newer version of this program wrote something about it that this version cannot read',
    wouldChange: 'run the newer version',
  },
};

export const reasonWords = (reason: Reason): Words => words[reason];

/** Whether a read failed because nobody accepts, or has, the account's session: then waiting does not help, and signing in does. */
export const isOfSession = (failure: string): boolean => /^(session|forbidden)\b/.test(failure);

/** The closed list, for schemas and help texts. */
export const reasons: readonly Reason[] = Object.keys(words) as Reason[];
