import { isUuid } from '../ids.ts';
import { slugOfUrl } from '../link-imports/values.ts';

/** What a user calls a link: its id, or a slug with a test whether a link of that slug is meant. */
export type NamedLink =
  | { kind: 'id'; id: string }
  | { kind: 'slug'; slug: string; isMeant: (link: { slug: string; short_url: string }) => boolean };

/** Reads the name of a link: its id, its address with or without a scheme, or its slug. */
export function readLinkName(text: string): NamedLink {
  if (isUuid(text)) return { kind: 'id', id: text.toLowerCase() };
  const isAddress = /[^/]\/[^/]/.test(text);
  const slug = isAddress ? slugOfUrl(text) : text;
  return {
    kind: 'slug',
    slug,
    isMeant: (link) =>
      link.slug.toLowerCase() === slug.toLowerCase() &&
      (!isAddress || withoutScheme(link.short_url) === withoutScheme(text)),
  };
}

const withoutScheme = (address: string) =>
  address
    .replace(/^https?:\/\//i, '')
    .replace(/[?#].*$/, '')
    .toLowerCase();
