/** State of the card's fields, as typed. Empty: not set. */
export type PreviewDraft = { title: string; description: string; image_url: string };

export const NO_PREVIEW: PreviewDraft = { title: '', description: '', image_url: '' };
