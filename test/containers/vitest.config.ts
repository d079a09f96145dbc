import { defineConfig } from 'vitest/config';

/** The test of the whole deployment in containers: one file, its tests in order, on an engine that `run.sh` has found. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/containers/*.containers.ts'],
    // Each step needs the one before it.
    bail: 1,
    // Bounds for a loaded machine, not expectations.
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});
