/** Pixels. */
export type ImageSize = { width: number; height: number };

/** Returns the size of an image, which is loaded without a referrer; null when it can't be. */
export function sizeOf(url: string): Promise<ImageSize | null> {
  return new Promise((resolve) => {
    const image = new Image();
    image.referrerPolicy = 'no-referrer';
    image.onload = () => resolve({ width: image.naturalWidth, height: image.naturalHeight });
    image.onerror = () => resolve(null);
    image.src = url;
  });
}
