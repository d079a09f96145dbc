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
