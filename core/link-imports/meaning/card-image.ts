import { isShownImage } from '../../links/preview.ts';
import type { SourceRow } from '../source-row.ts';

/**
 * Returns the image of a row's card, or null where no network would show it: over http, an SVG, or one that the other
 * service stores itself. Its column is then named as not taken over.
 *
 * @param key of its column
 */
export function cardImage(row: SourceRow, image: string | null, key = 'image'): string | null {
  if (image === null || (URL.canParse(image) && isShownImage(image))) return image;
  row.columns.left.add(key);
  return null;
}
