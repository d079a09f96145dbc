import { randomBytes } from 'node:crypto';
import { PNG } from 'pngjs';
import { describe, expect, test } from 'vitest';
import { pixelOf, plainPng, rastered, scannedText } from '../../test/support/scanned-images.ts';
import { qrModules } from './code.ts';
import { readColor, requireContrast } from './colors.ts';
import { FRAME_MARGIN, FRAME_TEXT_MOST, QR_FRAMES } from './frames.ts';
import { LOGO_LEVELS, logoSpan, QR_LEVELS, QR_SHAPES, type QrModules, qrAddress } from './layout.ts';
import { LOGO_BYTES, LOGO_SIDE, logoUrl, readLogo } from './logo.ts';
import { qrPng } from './png.ts';
import { type QrLook, qrSvg } from './svg.ts';
import { frameWords } from './words.ts';

const SHORT = 'https://hop.example/a1';
/** The longest domain and slug that a link can have. */
const LONGEST = `https://${`${'d'.repeat(61)}.`.repeat(3)}${'e'.repeat(55)}.example/${'s'.repeat(64)}`;
const BLACK_ON_WHITE = { color: [0, 0, 0], background: [255, 255, 255] } as const;
const RED = [200, 0, 0, 255] as const;

describe.each([
  ['a short address', qrAddress(SHORT), 256],
  ['the longest address', qrAddress(LONGEST), 512],
])('%s', (_, text, size) => {
  test.each(QR_LEVELS)('is scanned at level %s, at any margin', async (level) => {
    const modules = qrModules(text, level);
    for (const margin of [0, 4, 16]) {
      const png = await qrPng(modules, { size, margin, ...BLACK_ON_WHITE }, null);
      expect([margin, scannedText(png)]).toEqual([margin, text]);
    }
  });

  test.each(LOGO_LEVELS)('is scanned at level %s with a logo of any shape and color', async (level) => {
    const modules = qrModules(text, level);
    for (const [width, height] of [
      [400, 400],
      [600, 100],
      [3, 90],
    ] as const) {
      for (const color of [RED, [0, 0, 0, 255], [0, 0, 0, 0]] as const) {
        const logo = plainPng(width, height, color);
        const png = await qrPng(modules, { size, margin: 4, ...BLACK_ON_WHITE }, logo);
        expect([width, color, scannedText(png)]).toEqual([width, color, text]);
      }
    }
  });
});

describe.each(['rounded', 'dots'] as const)('%s', (shape) => {
  test.each([
    ['a short address', qrAddress(SHORT)],
    ['the longest address', qrAddress(LONGEST)],
  ])('modules of %s are scanned at any level, at the least size and a larger one', async (_, text) => {
    for (const level of QR_LEVELS) {
      const modules = qrModules(text, level);
      for (const scale of [4, 7]) {
        const size = scale * (modules.length + 8);
        const png = await qrPng(modules, { size, margin: 4, shape, ...BLACK_ON_WHITE }, null);
        expect([level, scale, scannedText(png)]).toEqual([level, scale, text]);
      }
    }
  });

  test('modules around a logo are scanned', async () => {
    for (const level of LOGO_LEVELS) {
      const modules = qrModules(qrAddress(SHORT), level);
      const look = { size: 512, margin: 4, shape, ...BLACK_ON_WHITE };
      const png = await qrPng(modules, look, plainPng(400, 400, RED));
      expect([level, scannedText(png)]).toEqual([level, qrAddress(SHORT)]);
    }
  });

  test('modules have curves, in the SVG too, and the finder patterns are whole', async () => {
    const modules = qrModules(qrAddress(SHORT), 'M');
    const look = { size: 20 * (modules.length + 8), margin: 4, shape, ...BLACK_ON_WHITE };
    const png = await qrPng(modules, look, null);
    // The outer corner of the first finder pattern is rounded, its edge is not interrupted.
    expect(pixelOf(png, 80, 80)).toEqual([255, 255, 255]);
    for (let module = 0; module < 6; module++) expect(pixelOf(png, 100 + 20 * module, 90)).toEqual([0, 0, 0]);
    const svg = qrSvg(modules, look, 'Code', null);
    expect(svg).toContain('shape-rendering="geometricPrecision"');
    expect(svg.includes('a0.45 0.45')).toBe(shape === 'dots');
  });
});

describe.each(QR_FRAMES.filter((frame) => frame !== 'none'))('the frame %s', (kind) => {
  const text = qrAddress(SHORT);
  const modules = qrModules(text, 'M');
  const frame = { kind, words: frameWords('Scan me') };

  test('leaves a code readable as PNG and as SVG, with any shape, quiet zone, and logo', async () => {
    const drawn: { name: string; text: string; svg: string }[] = [];
    const drawAs = async (
      name: string,
      code: QrModules,
      leads: string,
      look: QrLook,
      logo: Buffer | null,
    ) => {
      expect([name, scannedText(await qrPng(code, look, logo))]).toEqual([name, leads]);
      drawn.push({ name, text: leads, svg: qrSvg(code, look, 'Code', logo && logoUrl(logo)) });
    };
    for (const shape of QR_SHAPES) {
      for (const margin of [FRAME_MARGIN, 4]) {
        const look = {
          size: 400,
          margin,
          shape,
          frame,
          color: [29, 60, 120],
          background: [255, 250, 240],
        } as const;
        await drawAs(`${shape}, ${margin}`, modules, text, look, null);
      }
    }
    const longest = qrAddress(LONGEST);
    const look = { size: 900, margin: 4, frame, ...BLACK_ON_WHITE };
    await drawAs('longest, with a logo', qrModules(longest, 'H'), longest, look, plainPng(300, 300, RED));
    const scanned = rastered(drawn.map(({ svg }) => svg)).map(scannedText);
    expect(drawn.map(({ name }, nth) => [name, scanned[nth]])).toEqual(
      drawn.map((one) => [one.name, one.text]),
    );
  });

  test('is drawn alike as PNG and as SVG, with its text', async () => {
    const look = { size: 10 * (modules.length + 12), margin: 4, frame, ...BLACK_ON_WHITE };
    const png = PNG.sync.read(await qrPng(modules, look, null));
    const [raster = Buffer.of()] = rastered([qrSvg(modules, look, 'Code', null)]);
    const svg = PNG.sync.read(raster);
    expect([png.width, png.height]).toEqual([svg.width, svg.height]);
    expect(png.height).toBeGreaterThan(png.width);
    const differing = (other: PNG) =>
      png.data.filter((value, at) => Math.abs(value - (other.data[at] ?? 0)) > 128).length / 3;
    expect(differing(svg) / (png.width * png.height)).toBeLessThan(0.001);
    const silent = { ...look, frame: { kind, words: frameWords('.') } };
    // The letters have the area of 15 to 1,000 modules.
    const ofText = differing(PNG.sync.read(await qrPng(modules, silent, null)));
    expect(ofText).toBeGreaterThan(1_500);
    expect(ofText).toBeLessThan(100_000);
  });
});

test('a text of a frame has letters of Latin, Greek, and Cyrillic, in any form, and stays in its place', () => {
  const one = frameWords('Zażółć ΨΩ Сканируй');
  expect(frameWords('  Zażółć \n ΨΩ\tСканируй '.normalize('NFD'))).toEqual(one);
  expect(one.width).toBeGreaterThan(frameWords('Scan me').width);
});

test.each([
  ['扫一扫', 'must be of Latin, Greek, and Cyrillic letters, digits, and punctuation, not U+626B'],
  ['Go 🚀', 'must be of Latin, Greek, and Cyrillic letters, digits, and punctuation, not U+1F680'],
  ['a\u0000b', 'must be of Latin, Greek, and Cyrillic letters, digits, and punctuation, not U+0000'],
  ['a\ud800', 'must be of Latin, Greek, and Cyrillic letters, digits, and punctuation, not U+D800'],
  ['  \n ', 'must have a letter or digit'],
  ['x'.repeat(FRAME_TEXT_MOST + 1), 'must be at most 30 characters, not 31'],
])('%j is refused as text of a frame', (text, message) => {
  expect(refusalOf(() => frameWords(text))).toEqual({ path: 'frame_text', message });
});

test('a logo is drawn in the middle, in its color and shape, on the background', async () => {
  const modules = qrModules(qrAddress(SHORT), 'H');
  const size = 10 * (modules.length + 8);
  const png = await qrPng(modules, { size, margin: 4, ...BLACK_ON_WHITE }, plainPng(400, 100, RED));
  const middle = size / 2;
  const half = (10 * logoSpan(modules)) / 2;
  expect(pixelOf(png, middle, middle)).toEqual([200, 0, 0]);
  // Four times as wide as high: above it the background shows.
  expect(pixelOf(png, middle, middle - half + 10)).toEqual([255, 255, 255]);
  expect(pixelOf(png, middle - half + 8, middle)).toEqual([200, 0, 0]);
  expect(pixelOf(png, middle - half + 2, middle)).toEqual([255, 255, 255]);
});

test('a half transparent logo mixes with the background', async () => {
  const modules = qrModules(qrAddress(SHORT), 'H');
  const look = { size: 410, margin: 4, color: [0, 0, 0], background: [255, 255, 255] } as const;
  const png = await qrPng(modules, look, plainPng(50, 50, [0, 0, 0, 127]));
  expect(pixelOf(png, 205, 205)).toEqual([128, 128, 128]);
});

const refusalOf = (check: () => unknown) => {
  try {
    check();
    return null;
  } catch (error) {
    return (error as { details?: { path: string; message: string }[] }).details?.[0] ?? error;
  }
};
const contrastOf = (color: string, background: string) =>
  refusalOf(() => requireContrast('color', readColor('color', color), readColor('background', background)));

test.each([
  ['949494', 'ffffff'],
  ['#e11d48', '#ffffff'],
  ['0000ff', 'ffff00'],
])('a code of %s on %s has enough contrast, and is scanned', async (color, background) => {
  expect(contrastOf(color, background)).toBeNull();
  const look = {
    size: 256,
    margin: 4,
    color: readColor('color', color),
    background: readColor('background', background),
  };
  expect(scannedText(await qrPng(qrModules(qrAddress(SHORT), 'M'), look, null))).toBe(qrAddress(SHORT));
});

test.each([
  ['959595', 'ffffff', 'must differ more: the contrast is 2.99, and scanners need at least 3'],
  ['ffffff', '000000', 'must make a code that is darker than its background'],
  ['123456', '123456', 'must make a code that is darker than its background'],
  ['red', 'ffffff', 'must be six hexadecimal digits, such as 1a2b3c'],
  ['#12345', 'ffffff', 'must be six hexadecimal digits, such as 1a2b3c'],
])('a code of %s on %s is refused', (color, background, message) => {
  expect(contrastOf(color, background)).toEqual({ path: 'color', message });
});

const interlaced = Buffer.from(plainPng(4, 4, RED));
interlaced[28] = 1;
const broken = Buffer.from(plainPng(40, 40, RED)).subarray(0, 60);
const noise = PNG.sync.write(
  Object.assign(new PNG({ width: 200, height: 200 }), {
    data: randomBytes(160_000),
  }),
);

test.each<[string, string, string]>([
  ['an SVG', 'data:image/svg+xml;base64,PHN2Zy8+', 'must be a PNG as data:image/png;base64,…'],
  ['an address', 'https://cdn.example/logo.png', 'must be a PNG as data:image/png;base64,…'],
  ['nothing', '', 'must be a PNG as data:image/png;base64,…'],
  ['another kind of image', logoUrl(Buffer.from('GIF89a'.repeat(9))), 'must be a PNG'],
  [
    'a wide image',
    logoUrl(plainPng(LOGO_SIDE + 1, 1, RED)),
    'must be at most 1024 pixels wide and high, not 1025 × 1',
  ],
  ['an interlaced image', logoUrl(interlaced), 'must be a PNG without interlacing'],
  ['half an image', logoUrl(broken), 'must be a PNG that can be decoded'],
  ['a large file', logoUrl(noise), `must be at most 100 KiB, not ${Math.ceil(noise.length / 1_024)}`],
])('%s is refused as a logo', (_, url, message) => {
  expect(refusalOf(() => readLogo(url))).toEqual({ path: 'logo', message });
});

test('the largest logo is taken as it was sent', () => {
  const png = plainPng(LOGO_SIDE, LOGO_SIDE, RED);
  expect(png.length).toBeLessThanOrEqual(LOGO_BYTES);
  expect(readLogo(logoUrl(png)).equals(png)).toBe(true);
});
