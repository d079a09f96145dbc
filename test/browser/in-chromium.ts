import { beforeAll, beforeEach } from 'vitest';
import { NO_CHROMIUM } from './chromium.ts';

/**
 * Sets up a file of browser tests: `begin` runs before its tests, and the function it returns after them. Where no
 * Chromium is installed neither runs, and the tests are skipped.
 */
export function inChromium(begin: () => Promise<() => unknown>): void {
  beforeAll(async () => (NO_CHROMIUM ? undefined : begin()));
  beforeEach((context) => context.skip(Boolean(NO_CHROMIUM), String(NO_CHROMIUM)));
}
