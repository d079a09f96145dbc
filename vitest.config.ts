import { totalmem } from 'node:os';
import { defineConfig } from 'vitest/config';
import FileOrder from './test/support/file-order.ts';
import { TAGS } from './test/support/nightly.ts';
import { LIMIT_MS } from './test/support/until.ts';

/** A worker's modules, with the service and the browser that its files share. Bytes. */
const WORKER_BYTES = 2 * 2 ** 30;

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['**/node_modules/**', 'data/**', 'web/dist/**', 'dist/**'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/refuse-nested.ts', 'test/support/compare-responses.ts'],
    tags: TAGS,
    reporters: ['default', './test/support/skip-reporter.ts'],
    pool: 'forks',
    // SQLite is one, of Node 22.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // A process runs many files: reading the same modules again for each would take a tenth of the time.
    isolate: false,
    // Each file brings processes of its own, and waits two thirds of its time: for outages, for browsers, for what is
    // stored. Six on two cores, where the memory is enough.
    maxWorkers: Math.max(4, Math.min(6, Math.floor(totalmem() / WORKER_BYTES))),
    sequence: { sequencer: FileOrder },
    // Bounds for a loaded machine, not expectations: time decides no test. A test may start ten processes.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
    // Far below testTimeout, so that a condition that is never met fails with the value last seen.
    // Each read takes a core from what it waits for.
    expect: { poll: { timeout: LIMIT_MS, interval: 200 } },
  },
});
