/** The snapshot's body as an entry point: a control plane on loopback that answers what it is given, read as the daemon reads it. */
import { openPools } from '../../../src/host/pools.ts';
import { controlPlane } from '../../../src/host/sources/controlPlane.ts';
import { fetchSnapshot } from '../../../src/host/sources/snapshot.ts';
import type { Sessions } from '../../../src/host/sources/sessions.ts';
import { controlServer } from '../host/controlServer.ts';
import { BadTexts } from './badText.ts';
import type { Entry } from './siege.ts';

const line = {
  ...{ connectorId: 'docs', connectorVersion: '1.0.0', state: 'connected' },
  ...{ connectionId: 'c-1', connectionVersion: '9007199254740993' },
};
const good = {
  accountId: 'ann',
  revision: '7',
  serverEpoch: '1',
  connectors: [line, { ...line, connectorId: 'mail' }],
};

/** Every request is of another account, so that its cookie says which answer is meant. */
const sessions: Sessions = {
  of: (account) => Promise.resolve({ account, cookie: `n=${account}` }),
  current: undefined,
};

export async function snapshotEntry(seed: number): Promise<Entry & { close(): Promise<void> }> {
  const answers = new Map<string, Buffer>();
  const server = await controlServer();
  server.answer = (request, response) => {
    server.requests.length = 0;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(answers.get(String(request.headers.cookie)));
  };
  const pools = openPools();
  const plane = controlPlane({ baseUrl: server.url, sessions, pools });
  const texts = new BadTexts(seed, [good]);
  let count = 0;
  const read = async (body: Buffer): Promise<'refused' | 'accepted'> => {
    const account = `a${++count}`;
    answers.set(`n=${account}`, Buffer.from(body.toString('latin1').replace('"ann"', `"${account}"`), 'latin1'));
    const fact = await fetchSnapshot(plane, { account, epoch: 1, startedAt: 1 }, new AbortController().signal);
    answers.delete(`n=${account}`);
    if (fact.type === 'snapshot.failed') return 'refused';
    // A line that can't be read is told as that; the others count.
    const unreadable = Object.values(fact.data.entries).some((entry) => entry === 'unreadable');
    if (!isSnapshot(body)) throw new Error(`taken for a snapshot: ${body.toString('latin1').slice(0, 200)}`);
    return unreadable || !fact.data.complete ? 'refused' : 'accepted';
  };
  return {
    inFlight: 16,
    next: () => texts.next(),
    send: read,
    good: async () => {
      if ((await read(Buffer.from(JSON.stringify(good)))) !== 'accepted')
        throw new Error('a good snapshot was refused');
    },
    state: () => '',
    close: async () => {
      await pools.close();
      await server.close();
    },
  };
}

/** The least that a snapshot is, by another reader than ours. */
function isSnapshot(body: Buffer): boolean {
  try {
    const value = JSON.parse(body.toString('utf8')) as { revision?: unknown; connectors?: unknown } | null;
    return ['string', 'number'].includes(typeof value?.revision) && Array.isArray(value?.connectors);
  } catch {
    return false;
  }
}
