import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pixelOf, plainPng, scannedText } from '../../support/scanned-images.ts';
import { LIMIT_MS } from '../../support/until.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';

const PATIENCE = { timeout: LIMIT_MS };

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

test('a code takes the colors, a shape, and the logo of a brand, stays readable, and keeps them for the next link', async () => {
  await site.api(
    '/workspace',
    { logo: `data:image/png;base64,${plainPng(64, 64, [230, 110, 0, 255]).toString('base64')}` },
    'PATCH',
  );
  const [poster, flyer] = await Promise.all(
    ['poster', 'flyer'].map((slug) =>
      site.api<{ links: { id: string; short_url: string }[] }>('/links', {
        destination_url: 'https://example.com/',
        name: slug,
        channels: ['other'],
        slug: `brand-${slug}`,
      }),
    ),
  );
  const link = poster?.links[0];
  const next = flyer?.links[0];
  if (!link || !next) throw new Error('no link was made');
  const page = await site.open(`/links/${link.id}`);
  const card = page.getByRole('region', { name: 'QR code' });
  const logo = card.getByRole('switch', { name: 'Logo in the middle' });
  await expect.poll(() => logo.isEnabled(), PATIENCE).toBe(true);
  await logo.setChecked(true, { force: true });
  await card.getByLabel('Color', { exact: true }).fill('#1d5c3a');
  await card.getByLabel('Background', { exact: true }).fill('#fff4d6');
  await card.getByRole('combobox', { name: 'Shape' }).click();
  await page.getByRole('option', { name: 'Dots' }).click();
  await expectGood(page, 'qr-code');

  const download = page.waitForEvent('download');
  await card.getByRole('button', { name: 'PNG' }).click();
  const image = readFileSync(await (await download).path());
  expect(scannedText(image)).toBe(`${link.short_url}?qr=1`);
  expect(image.readUInt32BE(16)).toBeGreaterThanOrEqual(1_024);
  const middle = Math.floor(image.readUInt32BE(16) / 2);
  expect(pixelOf(image, 0, 0)).toEqual([0xff, 0xf4, 0xd6]);
  expect(pixelOf(image, middle, middle)).toEqual([230, 110, 0]);

  await card.getByLabel('Background', { exact: true }).fill('#2a6b48');
  await card.getByText(/This color must differ more: the contrast is 1\.\d+, and scanners need/).waitFor();
  expect(await card.getByRole('button', { name: 'PNG' }).isDisabled()).toBe(true);
  expect(await card.getByRole('button', { name: 'SVG' }).isDisabled()).toBe(true);
  await card.getByLabel('Background', { exact: true }).fill('#fff4d6');
  await card.getByRole('img', { name: `QR code that leads to ${link.short_url}` }).waitFor();

  await page.goto(`${site.app}/console/links/${next.id}`);
  await expect.poll(() => card.getByLabel('Color', { exact: true }).inputValue(), PATIENCE).toBe('#1d5c3a');
  expect(await card.getByRole('combobox', { name: 'Shape' }).inputValue()).toBe('Dots');
  await card.getByRole('button', { name: 'Black on white' }).click();
  await expect.poll(() => card.getByLabel('Color', { exact: true }).inputValue(), PATIENCE).toBe('#000000');
  await expectClean(page);
});
