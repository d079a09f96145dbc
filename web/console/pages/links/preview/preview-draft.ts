import type { LinkPreview } from '../../../../../core/links/preview.ts';

/** State of the card's fields, as typed. Empty: not set. The size is read from the image. */
export type PreviewDraft = {
  title: string;
  description: string;
  image_url: string;
  size: { image_width: number; image_height: number } | null;
};

export const NO_PREVIEW: PreviewDraft = { title: '', description: '', image_url: '', size: null };

export function previewDraftOf(preview: LinkPreview | null): PreviewDraft {
  const { title = '', description = '', image_url = '', image_width, image_height } = preview ?? {};
  const size = image_width && image_height ? { image_width, image_height } : null;
  return { title, description, image_url, size };
}

/** Returns the card as the API takes it; null: none. */
export function previewBody({ title, description, image_url, size }: PreviewDraft): LinkPreview | null {
  const texts = Object.entries({ title, description, image_url }).filter(([, text]) => text.trim() !== '');
  if (texts.length === 0) return null;
  const card = Object.fromEntries(texts.map(([name, text]) => [name, text.trim()]));
  return image_url.trim() === '' ? card : { ...card, ...size };
}
