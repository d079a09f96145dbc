import { createHash } from 'node:crypto';
import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts';
import { ERROR_HELP } from './error-codes.ts';

/** The help on errors: a page without scripts, with a section for each code. */
export function errorPage(): { html: string; policy: string } {
  const codes = (Object.keys(ERROR_HELP) as ErrorCode[]).sort((a, b) => ERROR_STATUS[a] - ERROR_STATUS[b]);
  const style = createHash('sha256').update(STYLE).digest('base64');
  return {
    policy: `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Errors of the Hoplog API</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p><a href="/docs">API reference</a></p>
<h1>Errors</h1>
<p>Every error is <code>{ "error": { "code", "message", "request_id", "doc_url", "details"? } }</code>. The message says
what is wrong, <code>details</code> each invalid field.</p>
<ul class="codes">
${codes.map((code) => `<li><a href="#${code}">${code}</a></li>`).join('\n')}
</ul>
${codes.map(section).join('\n')}
</main>
</body>
</html>
`,
  };
}

function section(code: ErrorCode): string {
  const { when, remedy } = ERROR_HELP[code];
  return `<section id="${code}">
<h2><code>${code}</code> <span>${ERROR_STATUS[code]}</span></h2>
<p>${inline(when.charAt(0).toUpperCase() + when.slice(1))}.</p>
<p><strong>What to do:</strong> ${inline(remedy)}</p>
</section>`;
}

/** HTML of a text with code in backticks. */
const inline = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/`([^`]+)`/g, '<code>$1</code>');

const STYLE = `
:root { color-scheme: light dark; --soft: #f1f3f5; --dim: #495057; --link: #157343; --mark: #d3f0e0 }
@media (prefers-color-scheme: dark) {
  :root { --soft: #2e2e2e; --dim: #b8b8b8; --link: #51c98a; --mark: #0e3a22 }
  body { background: #1f1f1f; color: #e9e9e9 }
}
body { margin: 0; font: 16px/1.55 system-ui, sans-serif }
main { max-width: 46rem; margin: 0 auto; padding: 24px 16px 64px }
a { color: var(--link) }
code { font: 0.9em ui-monospace, monospace; background: var(--soft); border-radius: 4px; padding: 0.1em 0.35em;
  overflow-wrap: anywhere }
.codes { columns: 15rem; padding-left: 1.2em }
section { margin-top: 12px; padding: 8px 12px; border-radius: 8px; scroll-margin-top: 16px }
section:target { background: var(--mark) }
h2 { font-size: 1.15rem; margin: 0 0 0.3em }
h2 span { color: var(--dim); font-weight: 400 }
p { margin: 0.4em 0 }
`;
