import { type Language, languageAttributes } from '../../core/languages/languages.ts';
import { pageWords } from '../../core/languages/pages/words.ts';
import { isShownImage, type LinkPreview } from '../../core/links/preview.ts';
import { cutText } from '../../core/text/cut.ts';
import { escapeHtml } from '../../core/text/html.ts';
import { LAYOUT, languageHeaders, NOT_INDEXED, type Page, STYLE_SOURCE } from './layout.ts';

/** Characters that a card of X shows (developer.x.com/en/docs/x-for-websites/cards/overview/markup). */
const CARD_TITLE_LIMIT = 70;
const CARD_DESCRIPTION_LIMIT = 200;

/**
 * Returns the page that link-preview bots get instead of the redirect: Open Graph and card tags, and a link. The short
 * address replaces a missing title or description: WhatsApp and the Open Graph protocol require both.
 *
 * @param language of the page's own words
 * @param shortUrl of the link. It is the canonical address: with the destination's, Facebook would read that page's
 * tags
 * @param destination where people are redirected
 */
export function createPreviewPage(
  language: Language,
  preview: LinkPreview,
  shortUrl: string,
  destination: string,
): Page {
  const address = shortUrl.slice(shortUrl.indexOf('//') + 2);
  const { title = address, description = address, image_width: width, image_height: height } = preview;
  const image =
    preview.image_url !== undefined && isShownImage(preview.image_url) ? preview.image_url : undefined;
  const tags = [
    property('og:type', 'website'),
    property('og:url', shortUrl),
    property('og:title', title),
    property('og:description', description),
    named('description', description),
    named('twitter:card', image === undefined ? 'summary' : 'summary_large_image'),
    named('twitter:title', shortened(title, CARD_TITLE_LIMIT)),
    named('twitter:description', shortened(description, CARD_DESCRIPTION_LIMIT)),
  ];
  if (image !== undefined) {
    const { href } = new URL(image);
    tags.push(property('og:image', href), property('og:image:alt', title));
    if (width !== undefined && height !== undefined) {
      tags.push(property('og:image:width', String(width)), property('og:image:height', String(height)));
    }
    tags.push(named('twitter:image', href), named('twitter:image:alt', title));
  }
  const body =
    `<!doctype html><html${languageAttributes(language)} prefix="og: https://ogp.me/ns#"><head><meta charset="utf-8">${LAYOUT}` +
    `<title>${escapeHtml(title)}</title>${tags.join('')}</head>` +
    `<body><main><h1>${escapeHtml(title)}</h1>${preview.description === undefined ? '' : `<p>${escapeHtml(description)}</p>`}` +
    `<p><a href="${escapeHtml(destination)}">${escapeHtml(pageWords(language)('continue'))}</a></p></main></body></html>`;
  return { headers: [...HEADERS, ...languageHeaders(language)], body: Buffer.from(body) };
}

const HEADERS = [
  ['Content-Type', 'text/html; charset=utf-8'],
  ['Cache-Control', 'no-store'],
  [
    'Content-Security-Policy',
    `default-src 'none'; style-src ${STYLE_SOURCE}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
  ],
  ['X-Content-Type-Options', 'nosniff'],
  NOT_INDEXED,
] as const;

function property(name: string, content: string): string {
  return `<meta property="${name}" content="${escapeHtml(content)}">`;
}

function named(name: string, content: string): string {
  return `<meta name="${name}" content="${escapeHtml(content)}">`;
}

/** Returns a text of at most `limit` UTF-16 code units, with an ellipsis where it is cut. */
function shortened(text: string, limit: number): string {
  return text.length <= limit ? text : `${cutText(text, limit - 1)}…`;
}
