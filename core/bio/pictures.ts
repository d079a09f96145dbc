// Browsers run this file too.
import type { PublicPage } from './public-page.ts';
import type { Theme } from './theme.ts';

/** Formats of stored pictures, each with its media type: one without transparency, one with. */
export const PICTURE_TYPES = { jpg: 'image/jpeg', webp: 'image/webp' } as const;

export type PictureFormat = keyof typeof PICTURE_TYPES;

/** Path of an uploaded picture on the origin of bio pages, which is how a page stores it: the origin may change. */
const STORED = /^\/assets\/([0-9a-f]{64}\.(jpg|webp))$/;

/** Returns the name and format of an uploaded picture, or null for another path. */
export function pictureAt(path: string): { name: string; format: PictureFormat } | null {
  const [, name, format] = STORED.exec(path) ?? [];
  return name === undefined ? null : { name, format: format as PictureFormat };
}

/** Returns the stored form of a picture's name. */
export const picturePath = (name: string) => `/assets/${name}`;

/** Returns the stored form of an image's URL: the path alone for a picture that was uploaded here. */
export function storedImage(url: string, publicUrl: string): string {
  const path = url.startsWith(`${publicUrl}/`) ? url.slice(publicUrl.length) : url;
  return pictureAt(path) === null ? url : path;
}

/** Returns the URL of a stored image. */
export function imageUrl(stored: string, publicUrl: string): string {
  return pictureAt(stored) === null ? stored : `${publicUrl}${stored}`;
}

/** The values of a page that may name an image. */
export type PageImages = {
  avatar_url?: string | null | undefined;
  theme?: Record<string, unknown> | undefined;
  buttons?: readonly { image_url: string | null }[] | undefined;
};

const THEME_IMAGES = ['canvasValue', 'footerImage'] as const;

/** Returns the names of uploaded pictures in stored fields of a page, each with the path of its field in a request. */
export function picturesOf({ avatar_url, theme = {}, buttons = [] }: PageImages): Map<string, string> {
  const fields: [path: string, value: unknown][] = [
    ['avatar_url', avatar_url],
    ...THEME_IMAGES.map((key): [string, unknown] => [`theme.${key}`, theme[key]]),
    ...buttons.map(({ image_url }, index): [string, unknown] => [`links.${index}.image_url`, image_url]),
  ];
  const found = new Map<string, string>();
  for (const [path, value] of fields) {
    const picture = typeof value === 'string' ? pictureAt(value) : null;
    if (picture !== null && !found.has(picture.name)) found.set(picture.name, path);
  }
  return found;
}

/** Returns a theme whose image values went through `change`. */
export function withThemeImages<T extends Partial<Record<keyof Theme, unknown>>>(
  theme: T,
  change: (image: string) => string,
): T {
  const changed = { ...theme };
  for (const key of THEME_IMAGES) {
    const value = theme[key];
    if (typeof value === 'string') changed[key] = change(value) as T[typeof key];
  }
  return changed;
}

/** Returns a page with the URLs of its stored images. */
export function withImageUrls(page: PublicPage, publicUrl: string): PublicPage {
  const shown = (stored: string) => imageUrl(stored, publicUrl);
  return {
    ...page,
    avatar_url: page.avatar_url && shown(page.avatar_url),
    theme: withThemeImages(page.theme, shown),
    buttons: page.buttons.map((button) => ({
      ...button,
      image_url: button.image_url && shown(button.image_url),
    })),
  };
}
