import type { IconType } from '../../sql/links/destination-pages.ts';

/** Pixels of an icon's width and height: a small file could decode to gigabytes in a member's browser. */
const MOST_SIDE = 1_024;

const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
const ICO = Buffer.from([0, 0, 1, 0]);

/**
 * Returns the type of an icon by its content; what its server says does not count.
 *
 * @returns null for anything else, also for an SVG, and for an icon that is too large
 */
export function iconType(image: Buffer): IconType | null {
  if (image.subarray(0, PNG.length).equals(PNG)) {
    // W3C PNG, section 11.2.1: width and height follow the name of the first chunk.
    return image.length >= 24 && isSmall(image.readUInt32BE(16), image.readUInt32BE(20)) ? 'image/png' : null;
  }
  const start = image.toString('latin1', 0, 6);
  if (start === 'GIF87a' || start === 'GIF89a') {
    return image.length >= 10 && isSmall(image.readUInt16LE(6), image.readUInt16LE(8)) ? 'image/gif' : null;
  }
  return image.subarray(0, ICO.length).equals(ICO) && image.length > 22 && hasSmallImages(image)
    ? 'image/x-icon'
    : null;
}

const isSmall = (width: number, height: number): boolean =>
  width >= 1 && height >= 1 && width <= MOST_SIDE && height <= MOST_SIDE;

/** Bytes of an ICO's header, and of the entry of each of its images. */
const HEADER = 6;
const ENTRY = 16;

/** Whether each PNG inside an ICO is small. Its bitmaps are at most 256 pixels wide and high. */
function hasSmallImages(icon: Buffer): boolean {
  const count = icon.readUInt16LE(4);
  if (count === 0 || HEADER + count * ENTRY > icon.length) return false;
  for (let index = 0; index < count; index++) {
    const at = icon.readUInt32LE(HEADER + index * ENTRY + 12);
    const image = icon.subarray(at);
    const width = image.subarray(0, PNG.length).equals(PNG) ? 16 : 4;
    if (image.length < width + 8) return false;
    // A bitmap's header has its length, then width, and twice its height.
    const [wide, high] =
      width === 16
        ? [image.readUInt32BE(16), image.readUInt32BE(20)]
        : [image.readInt32LE(4), image.readInt32LE(8) / 2];
    if (!isSmall(wide, high)) return false;
  }
  return true;
}
