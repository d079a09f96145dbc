import { defineConfig } from 'vitest/config';

/** Apart from the suite: the frameworks install 570 MB and build for minutes. */
export default defineConfig({
  test: {
    include: ['test/{frameworks,firefox}/*.check.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
