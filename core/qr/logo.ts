import { PNG } from 'pngjs';
import { badRequest } from '../errors.ts';

/** Bytes of a logo. */
export const LOGO_BYTES = 100 * 1_024;
/** Characters of the largest logo as data URL: four for each three bytes. */
export const LOGO_URL_LIMIT = Math.ceil(LOGO_BYTES / 3) * 4 + 30;
/** Pixels of a logo's width and height: an image of a few KiB could decode to gigabytes. */
export const LOGO_SIDE = 1_024;

const DATA_URL = /^data:image\/png;base64,([A-Za-z0-9+/]+={0,2})$/;
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Offsets in a PNG, whose first chunk is IHDR (W3C PNG, section 11.2.1). */
const WIDTH_AT = 16;
const HEIGHT_AT = 20;
const INTERLACE_AT = 28;

/**
 * Reads a logo that was sent as `data:image/png;base64,…`.
 *
 * @returns the PNG
 * @throws {AppError} `bad_request` that names `logo`
 */
export function readLogo(text: string): Buffer {
  const [, base64] = DATA_URL.exec(text) ?? [];
  if (base64 === undefined) throw badRequest('logo', 'must be a PNG as data:image/png;base64,…');
  const png = Buffer.from(base64, 'base64');
  if (png.length > LOGO_BYTES) {
    throw badRequest(
      'logo',
      `must be at most ${LOGO_BYTES / 1_024} KiB, not ${Math.ceil(png.length / 1_024)}`,
    );
  }
  if (png.length <= INTERLACE_AT || !png.subarray(0, SIGNATURE.length).equals(SIGNATURE)) {
    throw badRequest('logo', 'must be a PNG');
  }
  const [width, height] = [png.readUInt32BE(WIDTH_AT), png.readUInt32BE(HEIGHT_AT)];
  if (width > LOGO_SIDE || height > LOGO_SIDE) {
    throw badRequest('logo', `must be at most ${LOGO_SIDE} pixels wide and high, not ${width} × ${height}`);
  }
  // An interlaced PNG is refused: only the data of others is decoded within the bounds of its size.
  if (png[INTERLACE_AT] !== 0) throw badRequest('logo', 'must be a PNG without interlacing');
  try {
    PNG.sync.read(png);
  } catch {
    throw badRequest('logo', 'must be a PNG that can be decoded');
  }
  return png;
}

/** Returns a stored logo as a data URL. */
export function logoUrl(png: Uint8Array): string {
  return `data:image/png;base64,${Buffer.from(png).toString('base64')}`;
}
