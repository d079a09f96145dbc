import { defineConfig } from 'vitest/config';

/**
 * Configures the test of the whole deployment in containers: one file, its tests in order, on the engine of `run.sh`.
 */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/containers/*.containers.ts'],
    // Each step depends on the previous one.
    bail: 1,
    // Limits for a loaded machine, not expectations.
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});
