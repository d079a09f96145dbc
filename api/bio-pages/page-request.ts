import { storedImage, withThemeImages } from '../../core/bio/pictures.ts';
import type { SocialLink } from '../../core/bio/public-page.ts';
import { IMAGE_URL_LIMIT } from '../../core/bio/theme.ts';
import { badRequest } from '../../core/errors.ts';
import { readAll, readEach } from '../../core/faults.ts';
import { contactUrl } from '../../core/links/contact-url.ts';
import { type DestinationRules, refuseBlockedDomain } from '../../core/links/destinations.ts';
import { bioSlugProblem, generateSlug, normalizeBioSlug } from '../../core/links/slugs.ts';
import { requireWebUrl } from '../../core/links/web-urls.ts';
import type { BioButton } from '../../sql/bio/buttons.ts';
import { checkMetadata } from '../schemas.ts';
import { BUTTON_URL_LIMIT, type ButtonBody, type ChangeBody } from './schemas.ts';

/** `publicUrl`: origin of bio pages and their pictures. */
type PageRules = Pick<DestinationRules, 'blockedDomains'> & { publicUrl: string };

/** A button without its short link. */
export type WantedButton = Omit<BioButton, 'link_id'>;

/** A validated create or change; uploaded pictures as they are stored. Undefined: not sent. */
export type PageRequest = Omit<ChangeBody, 'links' | 'social_links'> & {
  buttons: WantedButton[] | undefined;
  social_links: SocialLink[] | undefined;
};

const EMAIL_ADDRESS = /^[^\s@<>()[\]\\,;:"?&#%/]{1,64}@[^\s@<>()[\]\\,;:"?&#%/]+\.[^\s@<>()[\]\\,;:"?&#%/]+$/;
const EMAIL_LIMIT = 254;

/**
 * Validates a page body beyond its schema.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export function readPageRequest(body: ChangeBody, { blockedDomains, publicUrl }: PageRules): PageRequest {
  const { links, social_links, ...rest } = body;
  const refuseBlocked = (path: string, url: string | null | undefined) => {
    if (url) refuseBlockedDomain(path, url, blockedDomains);
  };
  const stored = (url: string) => storedImage(url, publicUrl);
  const { buttons, social } = readAll({
    avatar: () => {
      if (body.avatar_url === '') throw badRequest('avatar_url', 'must be an http(s) URL or null');
      if (body.avatar_url) requireWebUrl('avatar_url', body.avatar_url, IMAGE_URL_LIMIT);
    },
    metadata: () => checkMetadata(body.metadata),
    buttons: () =>
      links &&
      readButtons(links, refuseBlocked).map((button) => ({
        ...button,
        image_url: button.image_url && stored(button.image_url),
      })),
    social: () =>
      social_links &&
      readEach(social_links, ({ platform, url }, index) => {
        const path = `social_links.${index}.url`;
        refuseBlocked(path, url);
        return { platform, url: readSocialUrl(path, platform, url) };
      }),
  });
  return {
    ...rest,
    ...(rest.avatar_url && { avatar_url: stored(rest.avatar_url) }),
    ...(rest.theme && { theme: withThemeImages(rest.theme, stored) }),
    buttons,
    social_links: social,
  };
}

/**
 * Returns the slug as stored: trimmed, in lower case.
 *
 * @throws {AppError} `bad_request` when it is reserved or malformed
 */
function readBioSlug(text: string): string {
  const slug = normalizeBioSlug(text);
  const problem = bioSlugProblem(slug);
  if (problem === 'reserved') throw badRequest('slug', `must not be "${slug}": this name is reserved`);
  if (problem) throw badRequest('slug', 'must be 3 to 40 lowercase letters, digits and hyphens');
  return slug;
}

/**
 * Validates the body of a new page beyond its schema. A slug that the schema refused is left out.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export function readNewPage<Slug extends string | undefined>(
  { slug, ...body }: ChangeBody & { slug: Slug },
  rules: PageRules,
): PageRequest & { slug: Slug } {
  const { page, normalized } = readAll({
    normalized: () => (slug === undefined ? slug : (readBioSlug(slug) as Slug)),
    page: () => readPageRequest(body, rules),
  });
  return { ...page, slug: normalized };
}

function readButtons(
  links: ButtonBody[],
  refuseBlocked: (path: string, url: string | null | undefined) => void,
): WantedButton[] {
  const sent = new Set<string>();
  readEach(links, ({ id }, index) => {
    if (id === undefined) return;
    if (sent.has(id)) throw badRequest(`links.${index}.id`, 'must not repeat an id of the list');
    sent.add(id);
  });
  return readEach(links, (link, index) => {
    const { type = 'link', label = '' } = link;
    const path = `links.${index}`;
    readAll({
      image: () => {
        if (link.image_url !== undefined && link.image_url !== null) {
          requireWebUrl(`${path}.image_url`, link.image_url, IMAGE_URL_LIMIT);
        }
      },
      url: () => {
        refuseBlocked(`${path}.url`, link.url);
        if (type !== 'link') return;
        if (link.url === undefined || link.url === null) throw badRequest(`${path}.url`, 'is required');
        requireButtonUrl(`${path}.url`, contactUrl(link.url));
      },
    });
    return {
      id: link.id ?? freshId(sent),
      type,
      label,
      url: type === 'link' && link.url ? contactUrl(link.url) : null,
      emoji: link.emoji || null,
      image_url: link.image_url ?? null,
    };
  });
}

/** Addresses that a phone opens in another app. Each has a number or a name. */
const CONTACTS: Readonly<Record<string, RegExp>> = {
  mailto:
    /^mailto:[^\s@?,]+@[^\s@?,]+(,[^\s@?,]+@[^\s@?,]+)*(\?\S*)?$|^mailto:\?(?:\S*&)?to=[^\s@&]+(?:@|%40)[^\s&]+/i,
  tel: /^tel:\+?[\d()./\-*#]*\d[\d()./\-*#]*([;,]\S*)?$/i,
  sms: /^sms:\+?[\d().-]*\d[\d().-]*([?;&,]\S*)?$/i,
};

/** @throws {AppError} `bad_request` when it is neither a web URL nor an address of mail, telephone or message */
function requireButtonUrl(path: string, url: string): void {
  const [, scheme = ''] = /^(mailto|tel|sms):/i.exec(url) ?? [];
  const pattern = CONTACTS[scheme.toLowerCase()];
  if (pattern === undefined) return void requireWebUrl(path, url, BUTTON_URL_LIMIT);
  if (url.length > BUTTON_URL_LIMIT) throw badRequest(path, `must be at most ${BUTTON_URL_LIMIT} characters`);
  if (/\p{Cc}/u.test(url) || !pattern.test(url)) {
    throw badRequest(
      path,
      scheme.toLowerCase() === 'mailto'
        ? 'must name an email address after `mailto:`'
        : `must name a telephone number after \`${scheme}:\`, in digits and signs alone`,
    );
  }
}

function freshId(taken: Set<string>): string {
  let id = generateSlug();
  while (taken.has(id)) id = generateSlug();
  taken.add(id);
  return id;
}

function readSocialUrl(path: string, platform: SocialLink['platform'], text: string): string {
  const address = text.replace(/^mailto:/i, '');
  if (platform === 'email' && address.length <= EMAIL_LIMIT && EMAIL_ADDRESS.test(address)) {
    return `mailto:${address}`;
  }
  if (platform === 'email' && !/^https?:/i.test(text)) {
    throw badRequest(path, 'must be one email address and nothing behind it, or a full URL');
  }
  requireWebUrl(path, text, BUTTON_URL_LIMIT);
  return text;
}
