import { MARK_URL } from '../../core/mark.ts';
import type { ConsoleFiles } from './files.ts';

/** The page of shared dashboards in the console's build. */
export const SHARED_PAGE = '/shared';

const assetPath = (name: string) => `/console/assets/${name}`;

/**
 * Returns the console's page, which its script renders. It preloads the modules of the shown path and its first reads.
 *
 * @param path below `/console`
 * @param nonce of this response, for style elements made by the script
 * @param reads paths of the first reads; safe in HTML
 */
export function consoleHtml(
  files: ConsoleFiles,
  nonce: string,
  path: string,
  reads: readonly string[],
): string {
  const page = files.pages.find(({ pattern }) => pattern.test(path));
  const modules = [...files.imports, ...(page?.imports ?? [])];
  const preloads = modules.map((name) => `<link rel="modulepreload" href="${assetPath(name)}">\n`);
  const fetches = reads.map((read) => `<link rel="preload" as="fetch" href="${read}" crossorigin>\n`);
  const name = path === SHARED_PAGE ? 'This dashboard' : 'The console';
  const styles = files.styles.map((name) => `<link rel="stylesheet" href="${assetPath(name)}">\n`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Hoplog</title>
<link rel="icon" type="image/svg+xml" href="${MARK_URL}">
${styles.join('')}${fetches.join('')}${preloads.join('')}<script type="module" nonce="${nonce}" src="${assetPath(files.script)}"></script>
</head>
<body>
<div id="root"></div>
<noscript><p>${name} needs JavaScript: turn it on in the settings of your browser.</p></noscript>
</body>
</html>
`;
}

/**
 * Returns the page's Content-Security-Policy: its own scripts, styles of its own or with the nonce, images of any
 * site (avatars and bio page previews), connections to its own origin.
 *
 * @param frames origins that it may frame: the public bio pages
 * @param ancestors source of the pages that may frame it
 */
export function consolePolicy(nonce: string, frames: readonly string[], ancestors: '*' | "'none'"): string {
  return [
    "default-src 'none'",
    `script-src 'self'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob: https: http:",
    "connect-src 'self'",
    `frame-src 'self' ${frames.join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');
}
