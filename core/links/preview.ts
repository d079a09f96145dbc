// Browsers run this file too.
import { badRequest } from '../errors.ts';
import { checkAll, readEach } from '../faults.ts';
import { isVisible } from '../text/visible.ts';
import { requireWebUrl } from './web-urls.ts';

/** The card that link-preview bots show for a link. At least one field. */
export type LinkPreview = {
  title?: string;
  description?: string;
  image_url?: string;
  /** Pixels. Facebook shows no image at the first share without its size. */
  image_width?: number;
  image_height?: number;
};

/** Characters. Networks cut longer texts. */
export const PREVIEW_TITLE_LIMIT = 200;
export const PREVIEW_DESCRIPTION_LIMIT = 500;
export const PREVIEW_IMAGE_LIMIT = 2_048;
/** Every line break of Unicode. */
const LINE_BREAK = /\s*[\r\n\u0085\u2028\u2029]+\s*/g;
/** Pixels of a side. */
export const PREVIEW_SIDE_LIMIT = 32_767;

/** Returns whether networks show an image: over https, and no SVG. */
export function isShownImage(url: string): boolean {
  const { protocol, pathname } = new URL(url);
  return protocol === 'https:' && !/\.svgz?(?:;[^/]*)?\/*$/i.test(decoded(pathname));
}

/** Servers decode a path before they look for a file: `a%2Esvg` is `a.svg`. */
function decoded(path: string): string {
  return path.replaceAll(/%([2-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/**
 * Validates the preview of a link and returns it as stored.
 *
 * @param given with texts of the right lengths
 * @returns null when it has no field
 * @throws {AppError} `bad_request` that names every fault
 */
export function readPreview(given: LinkPreview): LinkPreview | null {
  const { title, description, image_url, image_width, image_height } = given;
  const hasSize = image_width !== undefined && image_height !== undefined;
  checkAll([
    () =>
      readEach(['title', 'description'] as const, (field) => {
        const text = given[field];
        if (text !== undefined && !isVisible(text)) throw badRequest(`preview.${field}`, 'must not be blank');
      }),
    () => image_url !== undefined && requireImage(image_url),
    () => {
      if (!hasSize && (image_width ?? image_height) !== undefined) {
        const missing = image_width === undefined ? 'image_width' : 'image_height';
        throw badRequest(`preview.${missing}`, 'is required with the other side of the image');
      }
      if (hasSize && image_url === undefined)
        throw badRequest('preview.image_width', 'is allowed only with an `image_url`');
    },
  ]);
  const preview = {
    ...(title !== undefined && { title }),
    // A card has one paragraph.
    ...(description !== undefined && { description: description.replaceAll(LINE_BREAK, ' ') }),
    ...(image_url !== undefined && { image_url }),
    ...(hasSize && { image_width, image_height }),
  };
  return Object.keys(preview).length === 0 ? null : preview;
}

/** @throws {AppError} `bad_request` when networks would show no image of this address */
function requireImage(url: string): void {
  // Messengers load no image over http.
  if (!/^\s*https:\/\//i.test(url))
    throw badRequest('preview.image_url', 'must be a full URL that begins with https://');
  requireWebUrl('preview.image_url', url, PREVIEW_IMAGE_LIMIT);
  if (!isShownImage(url))
    throw badRequest('preview.image_url', 'must be a PNG, JPEG, WebP, or GIF: no network shows an SVG');
}
