import { createHash } from 'node:crypto';
import { type Language, languageAttributes } from '../../core/languages/languages.ts';
import { escapeHtml } from '../../core/text/html.ts';
import type { Headers } from '../http/exchange.ts';

/** For every page but bio pages: search engines leave it out. */
export const NOT_INDEXED = ['X-Robots-Tag', 'noindex'] as const;

/**
 * Headers of a page in one of several languages: a cache that keeps it anyway serves it to visitors of its language only.
 */
export const languageHeaders = (language: Language): Headers => [
  ['Content-Language', language],
  VARIES_BY_LANGUAGE,
];

/** For a page that depends on the visitor's language. */
export const VARIES_BY_LANGUAGE = ['Vary', 'Accept-Language'] as const;

/** An HTML page with its headers. */
export type Page = { headers: Headers; body: Buffer };

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;margin:0;padding:12vh 24px;color:#1c1c1e;background:#fff;text-align:center}' +
  'a{color:inherit}main{max-width:26rem;margin:0 auto;overflow-wrap:break-word}h1{font-size:1.4rem;margin:0 0 .5rem}p{margin:0 0 1rem}' +
  'label{display:block;text-align:start;margin:0 0 .25rem}' +
  'input{box-sizing:border-box;width:100%;font:inherit;padding:.6rem;border:1px solid #6e6e73;border-radius:8px}' +
  'button,.button{box-sizing:border-box;display:block;margin-top:1rem;width:100%;font:inherit;padding:.6rem;border:0;' +
  'border-radius:8px;color:#fff;background:#1c1c1e;text-decoration:none}' +
  '[role=alert]{color:#b00020}' +
  '@media(prefers-color-scheme:dark){body{color:#f2f2f7;background:#1c1c1e}button,.button{color:#1c1c1e;background:#f2f2f7}' +
  'input{color:inherit;background:#2c2c2e}[role=alert]{color:#ff8a80}}';

/** Source of the style in a Content-Security-Policy. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/** The viewport and the plain style of the pages that visitors see, for a head. */
export const LAYOUT = `<meta name="viewport" content="width=device-width"><style>${STYLE}</style>`;

/**
 * Returns a small page in the service's plain style.
 *
 * @param language of its texts
 * @param title text, escaped here
 * @param main HTML of the page's main part
 * @param headers added to the default ones
 * @param hasForm refuses frames, whose page could pretend to be ours. Leaves out `form-action`: browsers apply it to
 * every redirect after the form, and the destination may lead to an app
 */
export function createPage(
  language: Language,
  title: string,
  main: string,
  headers: Headers = [],
  hasForm = false,
): Page {
  const body =
    `<!doctype html><html${languageAttributes(language)}><head><meta charset="utf-8">${LAYOUT}` +
    `<meta name="robots" content="noindex"><title>${escapeHtml(title)}</title></head>` +
    `<body><main><h1>${escapeHtml(title)}</h1>${main}</main></body></html>`;
  return {
    headers: [
      ['Content-Type', 'text/html; charset=utf-8'],
      ['Cache-Control', 'no-store'],
      [
        'Content-Security-Policy',
        `default-src 'none'; style-src ${STYLE_SOURCE}; base-uri 'none'; ${hasForm ? "frame-ancestors 'none'" : "form-action 'none'"}`,
      ],
      ['X-Content-Type-Options', 'nosniff'],
      ...languageHeaders(language),
      NOT_INDEXED,
      ...headers,
    ],
    body: Buffer.from(body),
  };
}
