import { createHash } from 'node:crypto';
import { type Language, languageAttributes } from '../languages/languages.ts';
import { type PageWords, pageWords } from '../languages/pages/words.ts';
import { isOnOrigin } from '../links/destinations.ts';
import { isShownImage } from '../links/preview.ts';
import { shortUrlOf } from '../links/short-urls.ts';
import { escapeHtml } from '../text/html.ts';
import { PLATFORM_ICONS, PLATFORM_NAMES } from './icons.ts';
import { withImageUrls } from './pictures.ts';
import type { PublicButton, PublicPage, SocialLink } from './public-page.ts';
import { styleOf } from './style.ts';

/** Origins of pages and short links, without a trailing slash. */
export type Origins = { publicUrl: string; shortUrl: string };

/** Languages of a bio page. */
export type BioPageLanguage = {
  /** Language that the page or its workspace chose; null: none, so the page has the language of its texts. */
  chosen: Language | null;
  /** Language of the words that Hoplog adds to the page, if none is chosen. */
  ofVisitor: Language;
};

/** A bio page as HTML, and the Content-Security-Policy that allows its parts and nothing else. */
export type RenderedBioPage = { html: string; policy: string };

/**
 * Renders the public HTML of a bio page: no script, every text escaped, nothing loaded but its images.
 *
 * @param slug the page's own, in lower case
 * @param stored with uploaded pictures as stored, or as URLs
 */
export function renderBioPage(
  slug: string,
  stored: PublicPage,
  origins: Origins,
  { chosen, ofVisitor }: BioPageLanguage,
): RenderedBioPage {
  const page = withImageUrls(stored, origins.publicUrl);
  const { css, classes, frame } = styleOf(page.theme);
  const name = page.title.trim() || slug;
  const words = pageWords(chosen ?? ofVisitor);
  const ofTexts = languageOfTexts(name, page);
  const textAttribute = ofTexts && ` lang="${ofTexts}"`;
  const htmlAttributes = chosen === null ? textAttribute : languageAttributes(chosen);
  // The words that Hoplog adds may be in another language than the page's texts.
  const ownAttributes = chosen === null && ofTexts !== ofVisitor ? languageAttributes(ofVisitor) : '';
  const html =
    `<!doctype html><html${htmlAttributes}><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width,initial-scale=1"><title>${escapeHtml(name)}</title>` +
    `${metaTags(slug, name, page, origins, frame)}<style>${css}</style></head>` +
    `<body${classes ? ` class="${classes}"` : ''}><main>${avatar(page, name)}<h1 dir="auto">${escapeHtml(name)}</h1>` +
    `${page.bio.trim() ? `<p class="bio" dir="auto">${escapeHtml(page.bio.trim())}</p>` : ''}` +
    `${socialLinks(page.social_links, words, ownAttributes)}${buttons(page.buttons, origins)}` +
    `${page.theme.footerImage ? image('footer-image', page.theme.footerImage) : ''}` +
    `${page.show_branding ? `<footer${ownAttributes}>${escapeHtml(words('made_with', { service: 'Hoplog' }))}</footer>` : ''}</main></body></html>`;
  return { html, policy: policyOf(css) };
}

/** Languages that are written with a script of their own. */
const SCRIPT_LANGUAGES: readonly [RegExp, string][] = [
  [/\p{Script=Hiragana}|\p{Script=Katakana}/u, 'ja'],
  [/\p{Script=Hangul}/u, 'ko'],
  [/\p{Script=Hebrew}/u, 'he'],
  [/\p{Script=Greek}/u, 'el'],
  [/\p{Script=Thai}/u, 'th'],
  [/\p{Script=Georgian}/u, 'ka'],
  [/\p{Script=Armenian}/u, 'hy'],
  // Persian and Urdu have letters that Arabic lacks.
  [/[پچژگکیٹڈڑےھ]/u, ''],
  [/\p{Script=Arabic}/u, 'ar'],
];

/**
 * Returns the language of a page's texts: that of a script which only one language uses, or `en` when most letters are
 * Latin. Empty when it is unknown: a screen reader then uses the visitor's own language.
 */
function languageOfTexts(name: string, { bio, buttons }: PublicPage): string {
  const text = [name, bio, ...buttons.map(({ label }) => label)].join(' ');
  const letters = text.match(/\p{L}/gu) ?? [];
  const latin = letters.filter((letter) => /\p{Script=Latin}/u.test(letter));
  if (latin.length * 2 >= letters.length) return 'en';
  return SCRIPT_LANGUAGES.find(([script]) => script.test(text))?.[1] ?? '';
}

function policyOf(css: string): string {
  const hash = createHash('sha256').update(css).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; img-src http: https:; form-action 'none'; base-uri 'none'`;
}

function metaTags(
  slug: string,
  name: string,
  page: PublicPage,
  { publicUrl }: Origins,
  frame: string,
): string {
  const description = page.bio.trim().replaceAll(/\s+/g, ' ');
  const url = `${publicUrl}/${slug}`;
  const image = page.avatar_url !== null && isShownImage(page.avatar_url) ? page.avatar_url : null;
  // Facebook shows no image at the first share without its size.
  const side = (pixels: number | null) => (image !== null && pixels ? String(pixels) : null);
  const properties: [string, string | null][] = [
    ['og:type', 'website'],
    ['og:title', name],
    ['og:description', description || null],
    ['og:url', url],
    ['og:image', image],
    ['og:image:width', side(page.avatar_width)],
    ['og:image:height', side(page.avatar_height)],
  ];
  const names: [string, string | null][] = [
    ['description', description || null],
    ['theme-color', frame],
    ['twitter:card', 'summary'],
  ];
  const tags = (attribute: string, entries: [string, string | null][]) =>
    entries
      .filter(([, content]) => content !== null)
      .map(([key, content]) => `<meta ${attribute}="${key}" content="${escapeHtml(content ?? '')}">`)
      .join('');
  const icon = page.avatar_url ? `<link rel="icon" href="${escapeHtml(page.avatar_url)}">` : '';
  return `<link rel="canonical" href="${escapeHtml(url)}">${icon}${tags('name', names)}${tags('property', properties)}`;
}

function avatar({ avatar_url }: PublicPage, name: string): string {
  if (avatar_url) return image('avatar', avatar_url);
  return `<span class="avatar" aria-hidden="true">${escapeHtml(firstCharacter(name).toLocaleUpperCase())}</span>`;
}

/** Returns the first character as a person sees it: a family emoji consists of seven code points. */
function firstCharacter(text: string): string {
  const [first] = new Intl.Segmenter().segment(text.trim());
  return first?.segment ?? '';
}

function image(className: string, url: string): string {
  return `<img class="${className}" src="${escapeHtml(url)}" alt="" referrerpolicy="no-referrer">`;
}

function socialLinks(links: SocialLink[], words: PageWords, ownAttributes: string): string {
  if (links.length === 0) return '';
  const items = links.map(({ platform, url }) => {
    const [name, attributes] =
      platform === 'email' ? [words('email'), ownAttributes] : [PLATFORM_NAMES[platform], ''];
    return (
      `<li><a href="${escapeHtml(url)}" target="_top" rel="noopener me"${attributes} aria-label="${escapeHtml(name)}">` +
      `<svg viewBox="0 0 16 16" aria-hidden="true"><path fill-rule="evenodd" d="${PLATFORM_ICONS[platform]}"/></svg></a></li>`
    );
  });
  return `<ul class="social">${items.join('')}</ul>`;
}

function buttons(list: PublicButton[], origins: Origins): string {
  const items = list.map((button) => (button.type === 'section' ? section(button) : link(button, origins)));
  const shown = items.filter((item) => item !== '');
  return shown.length === 0
    ? ''
    : `<ul class="buttons">${shown.map((item) => `<li>${item}</li>`).join('')}</ul>`;
}

function section({ label, emoji }: PublicButton): string {
  const text = [firstCharacter(emoji ?? ''), label.trim()].filter(Boolean).join(' ');
  return text && `<h2 dir="auto">${escapeHtml(text)}</h2>`;
}

function link(button: PublicButton, { shortUrl }: Origins): string {
  const url = button.url ?? '';
  const label = button.label.trim() || URL.parse(url)?.host || url.replace(/^[a-z]+:|\?.*/gi, '');
  const { slug, domain } = button;
  const leads = slug === null || isOnOrigin(url, shortUrl) ? url : shortUrlOf(shortUrl, { domain, slug });
  const picture = button.image_url
    ? `<img src="${escapeHtml(button.image_url)}" alt="" loading="lazy" referrerpolicy="no-referrer">`
    : button.emoji
      ? `<span class="emoji" aria-hidden="true">${escapeHtml(firstCharacter(button.emoji))}</span>`
      : '';
  return (
    `<a class="button${picture && ' pictured'}" href="${escapeHtml(leads)}" target="_top" rel="noopener">${picture}` +
    `<span class="label" dir="auto">${escapeHtml(label)}</span></a>`
  );
}
