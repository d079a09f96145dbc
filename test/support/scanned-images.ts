import { execFileSync } from 'node:child_process';
import jsQR from 'jsqr';
import { PNG } from 'pngjs';

/** Returns the text of the QR code in a PNG, or null when a decoder finds none. */
export function scannedText(png: Uint8Array): string | null {
  const { data, width, height } = PNG.sync.read(Buffer.from(png));
  // The package is CommonJS: its types describe the module, but Node imports its default export.
  const decode = jsQR as unknown as typeof jsQR.default;
  return decode(new Uint8ClampedArray(data), width, height)?.data ?? null;
}

/** Returns a PNG of one color. @param color red, green, blue, alpha */
export function plainPng(width: number, height: number, color: readonly number[]): Buffer {
  const image = new PNG({ width, height });
  for (let at = 0; at < image.data.length; at++) image.data[at] = color[at % 4] ?? 255;
  return PNG.sync.write(image);
}

/** Returns the color of a pixel of a PNG: red, green, blue. */
export function pixelOf(png: Uint8Array, x: number, y: number): number[] {
  const { data, width } = PNG.sync.read(Buffer.from(png));
  const at = 4 * (y * width + x);
  return [...data.subarray(at, at + 3)];
}

const RASTER = `
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const sharp = (await import('sharp')).default;
const drawn = await Promise.all(
  JSON.parse(Buffer.concat(chunks)).map((svg) => sharp(Buffer.from(svg)).ensureAlpha().png().toBuffer()),
);
process.stdout.write(JSON.stringify(drawn.map((png) => png.toString('base64'))));`;

/**
 * Returns SVGs as PNG, drawn by librsvg. In a process of its own: the code of uploads blocks SVG in its whole process.
 */
export function rastered(svgs: readonly string[]): Buffer[] {
  const drawn = execFileSync(process.execPath, ['--input-type=module', '-e', RASTER], {
    input: JSON.stringify(svgs),
    maxBuffer: 64 * 1_024 * 1_024,
  });
  return (JSON.parse(drawn.toString()) as string[]).map((png) => Buffer.from(png, 'base64'));
}
