// Writes src/protocol/gen from the .proto beside it; `--check` only compares. Buf is 133 MB, so it is fetched when somebody
// changes the contract and is no development dependency.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';

const target = 'src/protocol/gen/mcp_runtime_pb.ts';
const work = mkdtempSync(join(tmpdir(), 'dacapo-proto-'));
try {
  cpSync('src/protocol/proto', join(work, 'proto'), { recursive: true });
  writeFileSync(join(work, 'buf.yaml'), 'version: v2\nmodules:\n  - path: proto\n');
  writeFileSync(
    join(work, 'buf.gen.yaml'),
    'version: v2\nplugins:\n  - local: protoc-gen-es\n    out: gen\n    opt:\n      - target=ts\n      - import_extension=ts\n',
  );
  const packages = ['-p', '@bufbuild/buf@1.75.0', '-p', '@bufbuild/protoc-gen-es@2.13.0'];
  const ran = spawnSync('npx', ['-y', ...packages, 'buf', 'generate'], { cwd: work, stdio: ['ignore', 2, 2] });
  if (ran.status !== 0) process.exit(ran.status ?? 1);
  const made = readFileSync(join(work, 'gen/mcp_runtime_pb.ts'), 'utf8');
  if (process.argv.includes('--check')) {
    if (made !== readFileSync(target, 'utf8')) {
      console.error(`${target} does not belong to its .proto: run node scripts/proto.mjs`);
      process.exit(1);
    }
  } else writeFileSync(target, made);
} finally {
  rmSync(work, { recursive: true, force: true });
}
