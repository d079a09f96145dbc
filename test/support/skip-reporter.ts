import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { NIGHTLY } from './nightly.ts';

/**
 * Reports skipped tests with their reasons (the note of `skip(note)`). It fails the run for them if skips are
 * forbidden: with `CI=true`. Tests of the nightly run are counted separately, and fail no run.
 */
export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const all = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const left = all.filter(isLeft);
    if (left.length > 0) {
      const files = new Set(left.map(({ module }) => module.relativeModuleId)).size;
      process.stdout.write(
        `\nLeft to the nightly run: ${counted(left.length, 'test')} in ${counted(files, 'file')}; NIGHTLY=true runs them.\n`,
      );
    }
    const skipped = all.filter((test) => !isLeft(test));
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

const isLeft = (test: TestCase) => !NIGHTLY && test.tags.includes('nightly');

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

function reason(test: TestCase): string {
  const result = test.result();
  return (result.state === 'skipped' ? result.note : undefined) ?? 'no reason given';
}
