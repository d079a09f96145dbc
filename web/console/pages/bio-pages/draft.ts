import type { BioButton, BioPage, SocialLink, Theme } from './responses.ts';

/** A button being edited. Its `id` is assigned here and kept from the first save. */
export type DraftButton = Pick<BioButton, 'id' | 'type' | 'label'> & {
  url: string;
  emoji: string;
  image_url: string;
};

export type DraftSocial = SocialLink & { key: string };

/** The editable fields of a page. Empty texts are unset. */
export type Draft = {
  title: string;
  bio: string;
  avatar_url: string;
  /** Pixels; null: not known. */
  avatar_width: number | null;
  avatar_height: number | null;
  theme: Theme;
  links: DraftButton[];
  social_links: DraftSocial[];
  is_published: boolean;
  show_branding: boolean;
  /** Empty: that of the workspace, or else the visitor's. */
  language: BioPage['language'] | '';
  /** JSON. */
  metadata: string;
};

export function draftOf(page: BioPage): Draft {
  return {
    title: page.title,
    bio: page.bio,
    avatar_url: page.avatar_url ?? '',
    avatar_width: page.avatar_width,
    avatar_height: page.avatar_height,
    theme: page.theme,
    links: page.links.map(({ id, type, label, url, emoji, image_url }) => ({
      id,
      type,
      label,
      url: url ?? '',
      emoji: emoji ?? '',
      image_url: image_url ?? '',
    })),
    social_links: page.social_links.map((link, index) => ({ ...link, key: `saved-${index}` })),
    is_published: page.is_published,
    show_branding: page.show_branding,
    language: page.language ?? '',
    metadata: page.metadata ? JSON.stringify(page.metadata, null, 2) : '',
  };
}

/** The API's request body. */
export function bodyOf(draft: Draft) {
  return {
    title: draft.title,
    bio: draft.bio,
    avatar_url: draft.avatar_url.trim() || null,
    avatar_width: draft.avatar_width,
    avatar_height: draft.avatar_height,
    theme: draft.theme,
    links: draft.links.map((button) => ({
      id: button.id,
      type: button.type,
      label: button.label,
      ...(button.type === 'link' && { url: button.url.trim() }),
      emoji: button.emoji.trim() || null,
      image_url: button.image_url.trim() || null,
    })),
    social_links: draft.social_links.map(({ platform, url }) => ({ platform, url: url.trim() })),
    is_published: draft.is_published,
    show_branding: draft.show_branding,
    language: draft.language || null,
    metadata: jsonOf(draft.metadata),
  };
}

export type PageBody = ReturnType<typeof bodyOf>;

/** Stand-in URL of a button without one in the preview, where nothing can be opened. */
const SOMEWHERE = 'https://example.com/';

/** The body for a preview of an unfinished draft: incomplete URLs are left out. */
export function previewBodyOf(draft: Draft, slug: string) {
  const { is_published: _, metadata: __, avatar_width: ___, avatar_height: ____, ...body } = bodyOf(draft);
  return {
    ...body,
    slug,
    avatar_url: webUrlOrNull(body.avatar_url),
    links: body.links.map((button) => ({
      ...button,
      ...(button.url !== undefined && { url: webUrlOrNull(button.url) ?? SOMEWHERE }),
      image_url: webUrlOrNull(button.image_url),
    })),
    social_links: body.social_links.filter(
      ({ platform, url }) => webUrlOrNull(url) !== null || (platform === 'email' && url.includes('@')),
    ),
  };
}

const webUrlOrNull = (text: string | null) => (text !== null && isWebUrl(text) ? text : null);

/** Whether the API accepts the URL: http(s), without credentials. */
export function isWebUrl(text: string): boolean {
  const url = /^https?:\/\/[^/\\?#\s]\S*$/i.test(text) ? URL.parse(text) : null;
  return url !== null && url.username === '' && url.password === '';
}

/** The parsed text; undefined if it is not JSON. */
function jsonOf(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether the text is valid metadata: empty, or a JSON object. */
export function isMetadata(text: string): boolean {
  const value = jsonOf(text);
  return typeof value === 'object' && !Array.isArray(value);
}

/** A button or heading without content. */
export function newButton(type: BioButton['type']): DraftButton {
  return { id: newId(), type, label: '', url: '', emoji: '', image_url: '' };
}

/** Not `randomUUID`: it exists on HTTPS and localhost only. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** The list with the entry at `from` moved to `to`. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, index) => index !== from);
  return [...rest.slice(0, to), ...list.slice(from, from + 1), ...rest.slice(to)];
}

/** The list with the entry at `index` replaced. */
export function replaced<T>(list: readonly T[], index: number, entry: T): T[] {
  return list.map((old, at) => (at === index ? entry : old));
}
