import { expect, test } from 'vitest';
import { type TestApi, testApi } from '../support/api.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { watch } from './page-watch.ts';

let api: TestApi;
let origin: string;

inChromium(async () => {
  api = await testApi();
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  return api.close;
});

test('the API reference fits a phone, and violates no policy of its own', async () => {
  const browser = await sharedChromium();
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  const watched = watch(page, [origin]);
  const response = await page.goto(`${origin}/docs`);
  // With it a deployment on plain HTTP would request its own files by HTTPS.
  expect(response?.headers()['content-security-policy']).not.toContain('upgrade-insecure-requests');
  await page.locator('.opblock').first().waitFor();
  await page.locator('.renderedMarkdown table').first().waitFor();
  expect(watched).toMatchObject({ violations: [], errors: [], foreign: [] });
  const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  await expect.poll(() => page.evaluate(sideways)).toBe(0);
  await page.close();
});
