import { embedOrigin } from '../../core/links/embed-origin.ts';
import type { Asset } from '../assets.ts';

/** Where a page's files are found, their content's hash in the name. */
export const assetPath = (name: string, { hash }: Asset, extension: string) =>
  `/embed/assets/${name}-${hash}.${extension}`;

/**
 * The dashboard page: the same for everyone, since its script reads the query.
 *
 * @param apiBase the API's origin where it is another than the page's; null: the page's own
 */
export function pageHtml(script: Asset, style: Asset, apiBase: string | null): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${apiBase === null ? '' : `<meta name="api-base" content="${apiBase}">\n`}<title>Referral dashboard</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetPath('page', style, 'css')}" integrity="sha384-${style.sha384}">
<script defer src="${assetPath('page', script, 'js')}" integrity="sha384-${script.sha384}"></script>
</head>
<body>
<div id="root"></div>
<noscript><p>The referral dashboard needs JavaScript.</p></noscript>
</body>
</html>
`;
}

/**
 * The page's Content-Security-Policy: its own script and style, connections to the API, and nothing else. Any site
 * may frame it.
 *
 * @param apis origins of the API besides the page's own
 */
export function pagePolicy(apis: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    `connect-src 'self'${apis.map((origin) => ` ${origin}`).join('')}`,
    "base-uri 'none'",
    "form-action 'none'",
    'frame-ancestors *',
    "require-trusted-types-for 'script'",
  ].join('; ');
}

/**
 * The API's origin that a framed page asks for (`api_base`), or null.
 *
 * Only a framed page is let connect elsewhere: whoever frames it could show anything under their own name, while as a
 * page of its own it stands under this deployment's.
 *
 * @param destination the request's `Sec-Fetch-Dest`; browsers before 2023 leave it out, and the page's script asks
 *   the same question itself
 */
export function requestedApi(value: unknown, destination: string | undefined): string | null {
  if (typeof value !== 'string' || destination === 'document') return null;
  return embedOrigin(value.trim());
}
