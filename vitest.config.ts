import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Where .ci/run wants the counts, it names a file for them.
const report = process.env['DACAPO_TEST_REPORT'];
const counts: ['json', { outputFile: string }][] = report === undefined ? [] : [['json', { outputFile: report }]];

/** On a fresh clone files are begun by their size, and the longest of all are short texts: begun last, one worker waits for them alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => (/\/test\/(e2e|crash|wire)\//.test(moduleId) ? 0 : 1);
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', ...counts],
    // No test keeps anything in a module, so files share them: importing was half of the work.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // What waits for a process or a socket waits as long as a busy machine needs.
    expect: { poll: { timeout: 10_000 } },
    // Two cores: more workers only make the tests that talk to real processes late.
    maxWorkers: 2,
  },
});
