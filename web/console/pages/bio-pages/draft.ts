import type { BioButton, BioPage, SocialLink, Theme } from './responses.ts';

/** A button that is being edited. Its `id` is given here, so that it keeps it from the first save on. */
export type DraftButton = Pick<BioButton, 'id' | 'type' | 'label'> & {
  url: string;
  emoji: string;
  image_url: string;
};

export type DraftSocial = SocialLink & { key: string };

/** A page that is being edited: what may be saved. Texts that are empty are none. */
export type Draft = {
  title: string;
  bio: string;
  avatar_url: string;
  theme: Theme;
  links: DraftButton[];
  social_links: DraftSocial[];
  is_published: boolean;
  show_branding: boolean;
  /** JSON. */
  metadata: string;
};

export function draftOf(page: BioPage): Draft {
  return {
    title: page.title,
    bio: page.bio,
    avatar_url: page.avatar_url ?? '',
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
    metadata: page.metadata ? JSON.stringify(page.metadata, null, 2) : '',
  };
}

/** As the API takes it. */
export function bodyOf(draft: Draft) {
  return {
    title: draft.title,
    bio: draft.bio,
    avatar_url: draft.avatar_url.trim() || null,
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
    metadata: jsonOf(draft.metadata),
  };
}

export type PageBody = ReturnType<typeof bodyOf>;

/** Where a button that has no address yet seems to lead in the preview, in which nothing can be opened. */
const SOMEWHERE = 'https://example.com/';

/** What can be shown of a page while it is being typed: half an address is left out until it is whole. */
export function previewBodyOf(draft: Draft, slug: string) {
  const { is_published: _, metadata: __, ...body } = bodyOf(draft);
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

/** Whether the API would take it: a whole http(s) address without a password in it. */
export function isWebUrl(text: string): boolean {
  const url = /^https?:\/\/[^/\\?#\s]\S*$/i.test(text) ? URL.parse(text) : null;
  return url !== null && url.username === '' && url.password === '';
}

/** What the text says; undefined where it is no JSON. */
function jsonOf(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether it can be kept beside a page: nothing, or one JSON object. */
export function isMetadata(text: string): boolean {
  const value = jsonOf(text);
  return typeof value === 'object' && !Array.isArray(value);
}

/** A button or heading without content. */
export function newButton(type: BioButton['type']): DraftButton {
  return { id: newId(), type, label: '', url: '', emoji: '', image_url: '' };
}

/** Not `randomUUID`, which browsers have on https and localhost only. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** The list with the entry at `from` put at `to`. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, index) => index !== from);
  return [...rest.slice(0, to), ...list.slice(from, from + 1), ...rest.slice(to)];
}

/** The list with another entry at `index`. */
export function replaced<T>(list: readonly T[], index: number, entry: T): T[] {
  return list.map((old, at) => (at === index ? entry : old));
}
