import { EMBED_MESSAGES, embedWords } from '../../core/languages/embed/words.ts';
import { type Language, languageAttributes } from '../../core/languages/languages.ts';
import { embedOrigin } from '../../core/links/embed-origin.ts';
import { escapeHtml } from '../../core/text/html.ts';
import type { Asset } from '../assets.ts';

/** Paths of a page's files, with their content's hash. */
export const assetPath = (name: string, { hash }: Asset, extension: string) =>
  `/embed/assets/${name}-${hash}.${extension}`;

/**
 * Returns the dashboard page, the same for everyone who reads the language: its script reads the query, and finds its
 * words in the page. Its files are `crossorigin`, because a sandboxed frame has no origin of its own.
 *
 * @param apiBase the API's origin; null: the page's own
 */
export function pageHtml(script: Asset, style: Asset, apiBase: string | null, language: Language): string {
  const words = embedWords(language);
  // `<` would end the element in a text that holds a tag.
  const messages = JSON.stringify(EMBED_MESSAGES[language]).replaceAll('<', '\\u003c');
  const head = apiBase === null ? '' : `<meta name="api-base" content="${apiBase}">\n`;
  return documentOf(
    { script, style },
    { language, attributes: '', head },
    `<div id="root"></div>
<script type="application/json" id="words">${messages}</script>
<noscript><main class="page"><section class="card notice">
<h1>${words('no_script')}</h1>
<p>${words('no_script_text')}</p>
</section></main></noscript>`,
  );
}

/**
 * Returns the page for a site that may not frame the dashboard. It shows the reason, even without JavaScript; the
 * script only reports its height.
 *
 * @param given.origin of the site
 * @param given.theme of the query
 */
export function refusalHtml(
  script: Asset,
  style: Asset,
  { origin, theme, language }: { origin: string; theme: unknown; language: Language },
): string {
  const words = embedWords(language);
  return documentOf(
    { script, style },
    { language, attributes: ` data-theme="${theme === 'dark' ? 'dark' : 'light'}" data-framed`, head: '' },
    `<main class="page">
<section class="card notice" role="alert">
<h1>${words('not_here')}</h1>
<p>${words('not_here_text')}</p>
<p class="hint" lang="en" dir="ltr">For the team: <code>${escapeHtml(origin)}</code> is not in the workspace's allowed origins. Add it in the console under Settings, Publishable keys.</p>
</section>
</main>`,
  );
}

function documentOf(
  { script, style }: { script: Asset; style: Asset },
  { language, attributes, head }: { language: Language; attributes: string; head: string },
  body: string,
): string {
  return `<!doctype html>
<html${languageAttributes(language)}${attributes}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${head}<title>${embedWords(language)('title')}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetPath('page', style, 'css')}" crossorigin integrity="sha384-${style.sha384}">
<script defer src="${assetPath('page', script, 'js')}" crossorigin integrity="sha384-${script.sha384}"></script>
</head>
<body>
${body}
</body>
</html>
`;
}

/**
 * Returns the page's Content-Security-Policy: its own script and style, and connections to the API.
 *
 * @param apis origins of the API besides the page's own
 * @param ancestors sources of `frame-ancestors`
 */
export function pagePolicy(apis: readonly string[], ancestors: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    `connect-src 'self'${apis.map((origin) => ` ${origin}`).join('')}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
    "require-trusted-types-for 'script'",
  ].join('; ');
}

/**
 * Returns the API origin that a framed page requests (`api_base`), or null.
 *
 * Only a framed page may connect elsewhere: a top-level page would show foreign data under this deployment's name.
 *
 * @param destination the request's `Sec-Fetch-Dest`; browsers before 2023 omit it, and the page's script checks it too
 */
export function requestedApi(value: unknown, destination: string | undefined): string | null {
  if (typeof value !== 'string' || destination === 'document') return null;
  return embedOrigin(value.trim());
}
