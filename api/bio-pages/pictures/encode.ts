import { badRequest } from '../../../core/errors.ts';
import type { Picture } from '../../../sql/bio/pictures.ts';

/** Longest side of a stored picture, in pixels: a phone's background at three pixels a point. */
const SIDE = 1_600;
/** Pixels of a sent picture. A small file may declare billions, and take their memory. */
const PIXELS_LIMIT = 50_000_000;
const SECONDS_LIMIT = 20;
const QUALITY = 80;

/** The only decoders that run; libvips chooses one by content. SVG, PDF, and ImageMagick's are none of them. */
const DECODERS = ['JpegBuffer', 'PngBuffer', 'WebpBuffer', 'NsgifBuffer', 'HeifBuffer'].map(
  (name) => `VipsForeignLoad${name}`,
);
const FORMATS: readonly string[] = ['jpeg', 'png', 'webp', 'gif', 'heif'];

/** Encodes a sent picture as it is stored. */
export type EncodePicture = (sent: Buffer) => Promise<Picture>;

/**
 * Creates an encoder of one picture at a time: each may hold 200 MB while it is decoded. The library is loaded by the
 * first picture.
 */
export function createPictureEncoder(): EncodePicture {
  let last: Promise<unknown> = Promise.resolve();
  return (sent) => {
    const encoded = last.then(() => encode(sent));
    last = encoded.catch(() => {});
    return encoded;
  };
}

/**
 * Decodes a picture, turns it upright, scales it down, and encodes its pixels again: no metadata, profile, or other
 * bytes of the file remain. A moving picture becomes its first frame.
 *
 * @throws {AppError} `bad_request` for what is not a picture, or has too many pixels
 */
async function encode(sent: Buffer): Promise<Picture> {
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: DECODERS });
  sharp.cache(false);
  sharp.concurrency(1);
  const image = sharp(sent, { limitInputPixels: PIXELS_LIMIT, failOn: 'error', pages: 1 }).timeout({
    seconds: SECONDS_LIMIT,
  });
  const about = await image.metadata().catch((error: Error) => {
    throw notAPicture(error);
  });
  if (!FORMATS.includes(about.format)) throw notAPicture(new Error(about.format));
  const scaled = image
    .autoOrient()
    .resize({ width: SIDE, height: SIDE, fit: 'inside', withoutEnlargement: true });
  const format = about.hasAlpha ? 'webp' : 'jpg';
  const encoded = about.hasAlpha
    ? scaled.webp({ quality: QUALITY })
    : scaled.jpeg({ quality: QUALITY, mozjpeg: true });
  const { data, info } = await encoded.toBuffer({ resolveWithObject: true }).catch((error: Error) => {
    throw notAPicture(error);
  });
  return { content: data, format, width: info.width, height: info.height };
}

function notAPicture({ message }: Error): Error {
  if (message.includes('pixel limit')) {
    return badRequest('body', `must be a picture of at most ${PIXELS_LIMIT / 1_000_000} million pixels`);
  }
  return badRequest('body', 'must be a whole JPEG, PNG, WebP, GIF, or AVIF picture');
}
