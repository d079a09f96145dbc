import { embedOrigin } from '../../core/links/embed-origin.ts';
import type { Asset } from '../assets.ts';

/** Paths of a page's files, with their content's hash. */
export const assetPath = (name: string, { hash }: Asset, extension: string) =>
  `/embed/assets/${name}-${hash}.${extension}`;

/**
 * Returns the dashboard page, the same for everyone: its script reads the query. Its files are `crossorigin`, because a
 * sandboxed frame has no origin of its own.
 *
 * @param apiBase the API's origin; null: the page's own
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
<link rel="stylesheet" href="${assetPath('page', style, 'css')}" crossorigin integrity="sha384-${style.sha384}">
<script defer src="${assetPath('page', script, 'js')}" crossorigin integrity="sha384-${script.sha384}"></script>
</head>
<body>
<div id="root"></div>
<noscript><p>The referral dashboard needs JavaScript.</p></noscript>
</body>
</html>
`;
}

/**
 * Returns the page's Content-Security-Policy: its own script and style, and connections to the API. Any site may
 * frame it.
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
 * Returns the API origin that a framed page asks for (`api_base`), or null.
 *
 * Only a framed page may connect elsewhere: a top-level page would show foreign data under this deployment's name.
 *
 * @param destination the request's `Sec-Fetch-Dest`; browsers before 2023 omit it, and the page's script checks it
 *   too
 */
export function requestedApi(value: unknown, destination: string | undefined): string | null {
  if (typeof value !== 'string' || destination === 'document') return null;
  return embedOrigin(value.trim());
}
