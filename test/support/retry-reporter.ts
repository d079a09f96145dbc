import type { Reporter, TestModule } from 'vitest/node';

/** Reports which tests passed only at a second try, and how the first one failed. */
export default class RetryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const test of module.children.allTests('passed')) {
        if (test.diagnostic()?.flaky !== true) continue;
        const errors = test.result().errors ?? [];
        const failures = errors.map(({ message, stack }) => `  ${stack ?? message}`);
        process.stdout.write(
          `\nPassed at a second try only: ${module.relativeModuleId} > ${test.fullName}\n${failures.join('\n')}\n`,
        );
      }
    }
  }
}
