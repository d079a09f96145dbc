import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pixelOf, plainPng, rastered, scannedText } from '../../support/scanned-images.ts';
import { LIMIT_MS } from '../../support/until.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';

const PATIENCE = { timeout: LIMIT_MS };

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

test('a link keeps the design of its code: colors, shape, frame, and logo; the next begins with it, or plain', async () => {
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
  const dialog = page.getByRole('dialog', { name: 'Design the QR code' });
  const choose = (group: string, label: string) =>
    dialog.getByRole('radiogroup', { name: group }).getByText(label, { exact: true }).click();
  const save = dialog.getByRole('button', { name: 'Save' });
  const downloaded = async (format: string) => {
    const download = page.waitForEvent('download');
    await card.getByRole('button', { name: format }).click();
    return readFileSync(await (await download).path());
  };
  await card.getByRole('button', { name: 'Design' }).click();
  await dialog
    .getByRole('radio', { name: 'Workspace' })
    .and(page.locator(':enabled'))
    .waitFor({ state: 'attached' });
  await choose('Logo', 'Workspace');
  await dialog.getByLabel('Color', { exact: true }).fill('#1d5c3a');
  await dialog.getByLabel('Background', { exact: true }).fill('#fff4d6');
  await choose('Shape', 'Dots');
  await choose('Frame', 'Banner');
  const text = dialog.getByRole('textbox', { name: 'Text' });
  expect(await text.inputValue()).toBe('Scan me');
  await text.fill('扫一扫');
  await dialog.getByText(/The text must be of Latin, Greek, and Cyrillic letters.*U\+626B/).waitFor();
  expect(await save.isDisabled()).toBe(true);
  await text.fill('Zur Speisekarte');
  await expect.poll(() => save.isEnabled(), PATIENCE).toBe(true);
  await expectGood(page, 'qr-code');
  await save.click();
  await dialog.waitFor({ state: 'hidden' });

  const image = await downloaded('PNG');
  expect(scannedText(image)).toBe(`${link.short_url}?qr=1`);
  const [width, height] = [image.readUInt32BE(16), image.readUInt32BE(20)];
  expect(width).toBeGreaterThanOrEqual(1_024);
  expect(height).toBeGreaterThan(width);
  const middle = Math.floor(width / 2);
  // The frame, and the logo in the middle of the code.
  expect(pixelOf(image, middle, 4)).toEqual([0x1d, 0x5c, 0x3a]);
  expect(pixelOf(image, middle, middle)).toEqual([230, 110, 0]);
  expect(scannedText(rastered([(await downloaded('SVG')).toString()])[0] ?? Buffer.of())).toBe(
    `${link.short_url}?qr=1`,
  );

  // Another browser, and the API, have the same code.
  expect(await site.api(`/links/${link.id}/qr/style`)).toEqual({
    color: '1d5c3a',
    background: 'fff4d6',
    shape: 'dots',
    frame: 'banner',
    frame_text: 'Zur Speisekarte',
    logo: 'workspace',
  });

  await card.getByRole('button', { name: 'Design' }).click();
  await dialog.getByLabel('Background', { exact: true }).fill('#2a6b48');
  await dialog.getByText(/This color must differ more: the contrast is 1\.\d+, and scanners need/).waitFor();
  expect(await save.isDisabled()).toBe(true);
  await dialog.getByLabel('Background', { exact: true }).fill('#fff4d6');
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await page.goto(`${site.app}/console/links/${next.id}`);
  await card.getByRole('button', { name: 'Design' }).click();
  expect(await dialog.getByLabel('Color', { exact: true }).inputValue()).toBe('#000000');
  await dialog.getByRole('button', { name: 'As last time' }).click();
  await expect.poll(() => dialog.getByLabel('Color', { exact: true }).inputValue()).toBe('#1d5c3a');
  expect(await text.inputValue()).toBe('Zur Speisekarte');
  await choose('Logo', 'Own');
  await dialog.locator('input[type=file]').setInputFiles({
    name: 'logo.png',
    mimeType: 'image/png',
    buffer: plainPng(50, 50, [10, 80, 200, 255]),
  });
  await dialog.getByRole('img', { name: 'The logo of this link' }).waitFor();
  await save.click();
  await dialog.waitFor({ state: 'hidden' });
  const own = await downloaded('PNG');
  expect(scannedText(own)).toBe(`${next.short_url}?qr=1`);
  const half = Math.floor(own.readUInt32BE(16) / 2);
  expect(pixelOf(own, half, half)).toEqual([10, 80, 200]);

  await card.getByRole('button', { name: 'Design' }).click();
  await dialog.locator('input[type=file]').setInputFiles({
    name: 'logo.svg',
    mimeType: 'image/svg+xml',
    buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
  });
  await save.click();
  await dialog.getByText('The logo must be a PNG').first().waitFor();
  await dialog.getByRole('button', { name: 'Black on white' }).click();
  await save.click();
  await dialog.waitFor({ state: 'hidden' });
  await card.getByRole('img', { name: `QR code that leads to ${next.short_url}` }).waitFor();
  const bare = await downloaded('PNG');
  expect(bare.readUInt32BE(16)).toBe(bare.readUInt32BE(20));
  await expectClean(page);
});
