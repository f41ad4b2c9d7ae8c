import { defineConfig } from 'vitest/config';

// Where .ci/run wants the counts, it names a file for them.
const report = process.env['DACAPO_TEST_REPORT'];
const counts: ['json', { outputFile: string }][] = report === undefined ? [] : [['json', { outputFile: report }]];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', ...counts],
    // No test keeps anything in a module, so files share them: importing was half of the work.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // What waits for a process or a socket waits as long as a busy machine needs.
    expect: { poll: { timeout: 10_000 } },
    // Two cores: more workers only make the tests that talk to real processes late.
    maxWorkers: 2,
  },
});
