// Browsers run this file too.
import { badRequest } from '../errors.ts';
import { requireWebUrl } from './web-urls.ts';

/** What link-preview bots show of a link: its card. At least one field. */
export type LinkPreview = { title?: string; description?: string; image_url?: string };

/** Characters. Networks cut longer texts. */
export const PREVIEW_TITLE_LIMIT = 200;
export const PREVIEW_DESCRIPTION_LIMIT = 500;
export const PREVIEW_IMAGE_LIMIT = 2_048;

/**
 * Validates the preview of a link and returns it as stored.
 *
 * @param given with texts of the right lengths
 * @returns null when it has no field
 * @throws {AppError} `bad_request` that names the field
 */
export function readPreview(given: LinkPreview): LinkPreview | null {
  const { title, description, image_url } = given;
  if (image_url !== undefined) {
    requireWebUrl('preview.image_url', image_url, PREVIEW_IMAGE_LIMIT);
    // Messengers load no image over http.
    if (!/^https:/i.test(image_url)) throw badRequest('preview.image_url', 'must begin with https://');
  }
  const preview = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(image_url !== undefined && { image_url }),
  };
  return Object.keys(preview).length === 0 ? null : preview;
}
