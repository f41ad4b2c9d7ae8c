/**
 * The wire, measured as ratios against a hand-written floor in the same run. Prints one JSON document.
 *
 * Every part is a process of its own, so that its CPU is its own: a hand-written upstream; callers by hand, by our client and by the
 * official one; and what may stand between, each before the same upstream: a pass-through by hand, on node:http alone and with undici's
 * pool behind it, which is the leaner and is what `floor` means; the gateway with its authority in the process and over gRPC, the official handler and client in the gateway's place, and the local server before the gateway. A call
 * is a `tools/call` with a result of 1 KiB.
 *
 * - clients: CPU of the calling process for each call.
 * - hops: CPU of the process in between for each call, and the latency it adds to a direct call.
 * - ratios: the middle of the ratios of the rounds, each of what was measured one after the other.
 * - badInputs: CPU and bytes held for each bad body.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled } from './compiled.ts';
import { round } from './measure.ts';
import { cpuBetween, startPart, type Part } from './wirePart.ts';
import type { Ran } from './wireCallers.ts';
import type { Address } from './wirePlaces.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 9);
/** Calls of a run, by how many are made at once; fewer where the machine is too busy to make them in time. */
const CALLS = new Map([[16, 1_000], [1, 300]]); // prettier-ignore
const WARM = { concurrency: 16, calls: 10_000, ms: Number(process.env['BENCH_WARM_MS'] ?? 5_000) };
const RUN_MS = Number(process.env['BENCH_RUN_MS'] ?? 1_000);

const note = (text: string): void => void process.stderr.write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), 'dacapo-wire-'));
note('compiling');
const program = join(compiled(folder), 'wireProcess.js');
const parts: Part[] = [];
const started = async (role: string, options: object = {}): Promise<Part> => {
  const part = await startPart(program, role, { ...options, folder });
  parts.push(part);
  return part;
};

/** One thing that is measured: who calls whom, and whose CPU counts. */
interface Case {
  readonly name: string;
  readonly caller: Part;
  readonly address: Address;
  readonly counted: Readonly<Record<string, Part>>;
}

interface Figures {
  /** Calls of a run. */
  readonly calls: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** CPU for each call, by process. */
  readonly cpuUs: Readonly<Record<string, number>>;
}

async function openCases(): Promise<{ readonly clients: readonly Case[]; readonly hops: readonly Case[] }> {
  const upstream = await started('upstream');
  const behind = { upstream: upstream.address.url };
  const [byHand, ours, sdk] = [
    await started('caller byHand'),
    await started('caller ours'),
    await started('caller sdk'),
  ];
  const authority = await started('authority', behind);
  const floor = await started('floor', behind);
  const nodeFloor = await started('nodeFloor', behind);
  const gateway = await started('gateway', behind);
  const gatewayGrpc = await started('gateway', { ...behind, authority: authority.address.url });
  const sdkGateway = await started('sdkGateway', behind);
  const local = await started('local', { gateway: gateway.address.url });
  const client = (name: string, caller: Part): Case => ({ name, caller, address: upstream.address, counted: { client: caller } }); // prettier-ignore
  const hop = (name: string, part: Part, more: Readonly<Record<string, Part>> = {}): Case => ({ name, caller: byHand, address: part.address, counted: { hop: part, ...more } }); // prettier-ignore
  return {
    clients: [client('byHand', byHand), client('ours', ours), client('sdk', sdk)],
    hops: [
      hop('direct', upstream),
      hop('floor', floor),
      hop('nodeFloor', nodeFloor),
      hop('gateway', gateway),
      hop('gatewayGrpc', gatewayGrpc, { authority }),
      hop('sdk', sdkGateway),
      hop('localAndGateway', local, { gateway }),
    ],
  };
}

async function run({ caller, address, counted }: Case, concurrency: number): Promise<Figures> {
  const names = Object.keys(counted);
  const read = (): Promise<NodeJS.CpuUsage[]> => Promise.all(Object.values(counted).map((part) => part.cpu()));
  const calls = CALLS.get(concurrency) ?? 0;
  // Connections and caches first.
  await caller.ask('run', { address, concurrency, calls: calls / 4, ms: RUN_MS });
  const before = await read();
  const ran = (await caller.ask('run', { address, concurrency, calls, ms: RUN_MS })) as Ran;
  const after = await read();
  const cpuUs = names.map((name, index) => [name, cpuBetween(before[index], after[index]) / ran.calls] as const);
  return { calls: ran.calls, p50Us: ran.p50Us, p99Us: ran.p99Us, cpuUs: Object.fromEntries(cpuUs) };
}

/** Until the code is compiled that a call runs through; on a machine that is too busy for that, the figures say how many calls they are of. */
async function warmUp(cases: readonly Case[]): Promise<void> {
  for (const { caller, address } of cases) await caller.ask('run', { address, ...WARM });
}

/** Rounds of all cases in turns, so that a busy machine is busy for all of them; of each the middle. */
async function measureAll(cases: readonly Case[], concurrency: number): Promise<Measured> {
  const rounds: Table[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    const figures: [string, Figures][] = [];
    for (const one of cases) figures.push([one.name, await run(one, concurrency)]);
    rounds.push(Object.fromEntries(figures));
  }
  return { rounds, middle: Object.fromEntries(cases.map(({ name }) => [name, middle(rounds.map((table) => table[name] as Figures))])) }; // prettier-ignore
}

type Table = Readonly<Record<string, Figures>>;

interface Measured {
  readonly rounds: readonly Table[];
  readonly middle: Table;
}

function middleOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function middle(figures: readonly Figures[]): Figures {
  const of = (read: (one: Figures) => number): number => round(middleOf(figures.map(read)), 1);
  const names = Object.keys(figures[0]?.cpuUs ?? {});
  const cpuUs = names.map((name) => [name, of((one) => one.cpuUs[name] ?? NaN)] as const);
  return {
    calls: of((one) => one.calls),
    p50Us: of((one) => one.p50Us),
    p99Us: of((one) => one.p99Us),
    cpuUs: Object.fromEntries(cpuUs),
  };
}

function added(hops: Table): object {
  const { p50Us = NaN, p99Us = NaN } = hops['direct'] ?? {};
  const rows = Object.entries(hops).map(([name, one]) => {
    const latency = { addedP50Us: round(one.p50Us - p50Us, 1), addedP99Us: round(one.p99Us - p99Us, 1) };
    return [name, name === 'direct' ? one : { ...one, ...latency }];
  });
  return Object.fromEntries(rows) as object;
}

const cpu = (table: Table, name: string, process = 'hop'): number => table[name]?.cpuUs[process] ?? NaN;

function ratios(clients: Measured, hops: Measured): object {
  const client = (name: string, below: string): number =>
    round(middleOf(clients.rounds.map((table) => cpu(table, name, 'client') / cpu(table, below, 'client'))));
  const hop = (name: string, below: string): number =>
    round(middleOf(hops.rounds.map((table) => cpu(table, name) / cpu(table, below))));
  const both = (table: Table): number => cpu(table, 'localAndGateway') + cpu(table, 'localAndGateway', 'gateway');
  return {
    ourClientOverByHand: client('ours', 'byHand'),
    ourClientOverSdkClient: client('ours', 'sdk'),
    gatewayOverFloor: hop('gateway', 'floor'),
    gatewayOverNodeFloor: hop('gateway', 'nodeFloor'),
    gatewayGrpcOverFloor: hop('gatewayGrpc', 'floor'),
    gatewayOverSdkHandlerAndClient: hop('gateway', 'sdk'),
    localAndGatewayOverFloor: round(middleOf(hops.rounds.map((table) => both(table) / cpu(table, 'floor')))),
  };
}

async function badInputs(cases: readonly Case[]): Promise<object> {
  const rows: [string, object][] = [];
  for (const { name, caller, address, counted } of cases) {
    const part = counted['hop'] as Part;
    await caller.ask('bad', { address, seed: 1, count: 500 });
    const [before, heldBefore] = [await part.cpu(), await part.held()];
    const { bytes, count } = (await caller.ask('bad', { address, seed: 2, count: 2_000 })) as { bytes: number; count: number }; // prettier-ignore
    const [after, held] = [await part.cpu(), await part.held()];
    const heldBytes = Math.max(0, held - heldBefore);
    rows.push([name, { count, bytes, cpuUsEach: round(cpuBetween(before, after) / count, 1), heldBytes, heldOverInput: round(heldBytes / bytes) }]); // prettier-ignore
  }
  return Object.fromEntries(rows) as object;
}

try {
  const { clients, hops } = await openCases();
  note('warming up');
  await warmUp([...clients, ...hops]);
  const report: Record<string, object> = {};
  for (const concurrency of CALLS.keys()) {
    note(`concurrency ${concurrency}`);
    const [byClient, byHop] = [await measureAll(clients, concurrency), await measureAll(hops, concurrency)];
    const tables = { clients: byClient.middle, hops: added(byHop.middle) };
    report[`c${concurrency}`] = { ...tables, ratios: ratios(byClient, byHop) };
  }
  note('bad inputs');
  const bad = await badInputs(hops.filter(({ name }) => name === 'gateway' || name === 'localAndGateway'));
  const document = {
    schemaVersion: 1,
    node: process.version,
    rounds: ROUNDS,
    runMs: RUN_MS,
    ...report,
    badInputs: bad,
  };
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
} finally {
  await Promise.all(parts.map((part) => part.end()));
  rmSync(folder, { recursive: true, force: true });
}
