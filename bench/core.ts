/**
 * The core, measured as ratios against a named baseline in the same run. Prints one JSON document. Sections by name, all without:
 * machine, pipeline, perCall, replay, ready, memory, latency. What each of them compares stands at the head of its file.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled } from './compiled.ts';
import { latencyBench } from './coreLatency.ts';
import { machineBench } from './coreMachine.ts';
import { memoryBench } from './coreMemory.ts';
import { perCallBench } from './corePerCall.ts';
import { pipelineBench } from './corePipeline.ts';
import { readyBench } from './coreReady.ts';
import { replayBench } from './coreReplay.ts';

const note = (text: string): void => void process.stderr.write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), 'dacapo-bench-'));

const sections: Readonly<Record<string, (folder: string) => object | Promise<object>>> = {
  machine: machineBench,
  pipeline: pipelineBench,
  perCall: perCallBench,
  replay: replayBench,
  ready: readyBench,
  memory: memoryBench,
  latency: latencyBench,
};

async function run(asked: readonly string[]): Promise<void> {
  const measured: Record<string, object> = {};
  for (const [name, section] of Object.entries(sections)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    note(`${name} …`);
    measured[name] = await section(folder);
  }
  const document = { schemaVersion: 1, bench: 'core', node: process.version, ...measured };
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}

function runCompiled(asked: readonly string[]): void {
  note('compiling …');
  const { status } = spawnSync(process.execPath, ['--expose-gc', join(compiled(folder), 'core.js'), ...asked], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

const asked = process.argv.slice(2);
try {
  if (import.meta.filename.endsWith('.ts')) runCompiled(asked);
  else await run(asked);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
