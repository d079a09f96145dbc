import type { Reporter, TestCase, TestModule } from 'vitest/node';

/**
 * Reports what was skipped and why (the note given to `skip(note)`), and fails the run for it where
 * skips are forbidden: with `CI=true`.
 */
export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    if (skipped.length === 0) return;
    const lines = skipped.map(
      (test) => `  ${test.module.relativeModuleId} > ${test.fullName}: ${reason(test)}`,
    );
    process.stdout.write(`\nSkipped ${skipped.length} of the tests:\n${lines.join('\n')}\n`);
    if (process.env.CI === 'true') {
      process.stdout.write('With CI=true a skipped test is a failure.\n');
      process.exitCode = 1;
    }
  }
}

function reason(test: TestCase): string {
  const result = test.result();
  return (result.state === 'skipped' ? result.note : undefined) ?? 'no reason given';
}
