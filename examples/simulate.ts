/** Your host in the storm: `node --import tsx examples/simulate.ts [seed] [runs]`. In your project import from 'dacapo/simulate'. */
import type { Fact } from '../src/index.ts';
import { simulate, type MakeHost } from '../src/simulate/index.ts';

/** What your daemon does with an effect, with `outside` in the place of its network. Each effect ends in exactly one fact. */
const host: MakeHost =
  (outside) =>
  async (effect, { signal, startedAt, stamp }): Promise<Fact> => {
    if (effect.kind === 'fetchSnapshot') {
      const { account, epoch } = effect;
      const said = await outside.snapshot(account, signal);
      if (typeof said !== 'string') return { type: 'snapshot.received', data: { account, epoch, startedAt, ...said } };
      return { type: 'snapshot.failed', data: { account, epoch, reason: said, retryAfterMs: null } };
    }
    const { kind, ...route } = effect;
    const { account, connector } = route;
    if (kind === 'closeRoute') await outside.hangUp(account, connector, signal);
    if (kind === 'closeRoute') return { type: 'route.closed', data: { ...route, reason: 'withdrawn' } };
    const dialled = await outside.dial(account, connector, signal);
    if (dialled.kind === 'open') return { type: 'route.opened', data: { ...route, tools: dialled.tools } };
    const refused = dialled.kind === 'rejected' ? { code: dialled.code, stamp } : { code: null, stamp: null };
    const reason = dialled.kind === 'rejected' ? 'rejected' : dialled.reason;
    return { type: 'route.openFailed', data: { ...route, ...refused, reason, detail: null, retryAfterMs: null } };
  };

const [seed = 1, runs = 50] = process.argv.slice(2).map(Number);
const { findings, nonConverged, events } = await simulate({ seed, runs, host });
for (const { seed: of, law, text } of findings) console.log(`seed ${String(of)}: ${law}: ${text}`);
console.log(`${String(events)} events, ${String(findings.length)} findings, ${String(nonConverged)} did not converge`);
