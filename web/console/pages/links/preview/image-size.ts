import type { PreviewDraft } from './preview-draft.ts';

/** Returns the size of an image, which is loaded without a referrer; null when it can't be. */
export function sizeOf(url: string): Promise<PreviewDraft['size']> {
  return new Promise((resolve) => {
    const image = new Image();
    image.referrerPolicy = 'no-referrer';
    image.onload = () => resolve({ image_width: image.naturalWidth, image_height: image.naturalHeight });
    image.onerror = () => resolve(null);
    image.src = url;
  });
}
