import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { NO_CHROMIUM } from '../chromium.ts';
import {
  axeViolations,
  type ConsoleSite,
  expectClean,
  expectNoSidewaysScroll,
  SCHEMES,
  screenshot,
  startConsoleSite,
  WIDTHS,
} from './console-site.ts';

let site: ConsoleSite;

beforeAll(async () => {
  if (!NO_CHROMIUM) site = await startConsoleSite();
});
afterAll(async () => {
  if (!NO_CHROMIUM) await site.close();
});
beforeEach((context) => context.skip(Boolean(NO_CHROMIUM), String(NO_CHROMIUM)));

test('the shell shows the workspace and every page of the navigation, in both themes and widths', async () => {
  for (const scheme of SCHEMES) {
    for (const width of WIDTHS) {
      const page = await site.open('/', { scheme, width });
      await page.getByText('demo', { exact: true }).first().waitFor();
      await screenshot(page, `shell-${scheme}-${width}`);
      expect(await axeViolations(page), `${scheme}, ${width}`).toEqual([]);
      await expectNoSidewaysScroll(page);
      expectClean(page);
      await page.close();
    }
  }
});
