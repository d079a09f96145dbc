import { createRequire } from 'node:module';
import { type Html, html, trusted } from './html.ts';

/** The used part of highlight.js. Hazard: its own types would add browsers' types to all code of Node.js. */
type Highlighter = {
  registerLanguage(name: string, language: unknown): void;
  registerAliases(aliases: string[], of: { languageName: string }): void;
  getLanguage(name: string): unknown;
  highlight(code: string, options: { language: string }): { value: string };
};
const require = createRequire(import.meta.url);
const hljs = require('highlight.js/lib/core') as Highlighter;

const LANGUAGES = [
  'bash',
  'ini',
  'javascript',
  'json',
  'nginx',
  'php',
  'plaintext',
  'python',
  'sql',
  'typescript',
  'xml',
  'yaml',
];
for (const name of LANGUAGES) hljs.registerLanguage(name, require(`highlight.js/lib/languages/${name}`));
hljs.registerAliases(['js', 'jsx'], { languageName: 'javascript' });
hljs.registerAliases(['ts', 'tsx'], { languageName: 'typescript' });
hljs.registerAliases(['sh', 'shell', 'console'], { languageName: 'bash' });
hljs.registerAliases(['html', 'vue', 'svelte', 'liquid'], { languageName: 'xml' });

/** The placeholder for a key in samples. The page's script replaces it with the reader's own. */
export const KEY_WORDS = {
  secret: 'YOUR_SECRET_KEY',
  publishable: 'YOUR_PUBLISHABLE_KEY',
  partner: 'YOUR_PARTNER_KEY',
} as const;
export type KeyKind = keyof typeof KEY_WORDS;

/** Returns a block of code with its colors and a button that copies it. @param language as after a Markdown fence */
export function codeBlock(code: string, language = 'plaintext'): Html {
  const text = code.replace(/\n$/, '');
  return html`<div class="code"><pre tabindex="0"><code>${colored(text, language)}</code></pre><button type="button" class="copy" data-copy aria-label="Copy the code">Copy</button></div>`;
}

function colored(code: string, language: string): Html {
  const known = hljs.getLanguage(language) ? language : 'plaintext';
  let markup = hljs.highlight(code, { language: known }).value;
  for (const [kind, word] of Object.entries(KEY_WORDS)) {
    markup = markup.replaceAll(word, `<span data-key="${kind}">${word}</span>`);
  }
  return trusted(markup);
}
