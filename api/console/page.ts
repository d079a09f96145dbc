import type { ConsoleFiles } from './files.ts';

const assetPath = (name: string) => `/console/assets/${name}`;

/**
 * The console's one page: its script shows the rest. It names all that the shown page needs, so that the browser asks
 * for it at once: modules, and who is signed in.
 *
 * @param path below `/console`
 * @param nonce of this answer: what the script makes of style elements carries it
 */
export function consoleHtml(files: ConsoleFiles, nonce: string, path: string): string {
  const page = files.pages.find(({ pattern }) => pattern.test(path));
  const modules = [...files.imports, ...(page?.imports ?? [])];
  const preloads = modules.map((name) => `<link rel="modulepreload" href="${assetPath(name)}">\n`);
  const styles = files.styles.map((name) => `<link rel="stylesheet" href="${assetPath(name)}">\n`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Hoplog</title>
<link rel="icon" href="data:,">
${styles.join('')}<link rel="preload" as="fetch" href="/api/v1/session" crossorigin>
${preloads.join('')}<script type="module" nonce="${nonce}" src="${assetPath(files.script)}"></script>
</head>
<body>
<div id="root"></div>
<noscript><p>The console needs JavaScript.</p></noscript>
</body>
</html>
`;
}

/**
 * The page's Content-Security-Policy: its own scripts, styles of its own or with the nonce, images of anybody
 * (avatars and previews of bio pages), connections to its own origin.
 *
 * @param frames origins that it may show in a frame: where public bio pages are
 */
export function consolePolicy(nonce: string, frames: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src 'self'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob: https: http:",
    "connect-src 'self'",
    `frame-src 'self' ${frames.join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
