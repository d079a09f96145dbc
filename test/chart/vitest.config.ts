import { defineConfig } from 'vitest/config';

/** Configures the check of the Helm chart by `check.sh`. It needs no databases. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/chart/*.chart.ts', 'test/chart/chart.test.ts', 'test/chart/rendering.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
