import { Marked, type Tokens } from 'marked';
import { codeBlock } from './code.ts';
import { escaped, type Html, trusted } from './html.ts';

export type Heading = { depth: number; text: string; id: string };

/** Resolves the references of a text. */
export type References = {
  /** Returns the address that a link of the text leads to. */
  href(target: string): string;
  /** Returns the page that explains a piece of code: an operation, an error, an event; null: none. */
  codePage(code: string): string | null;
};

/** Renders Markdown. Raw HTML in it is shown as text. */
export type Renderer = {
  block(text: string): Html;
  inline(text: string): Html;
  /** Renders a whole page, whose headings get anchors. */
  page(text: string): { body: Html; headings: Heading[] };
};

/** Creates a renderer of texts that share their references. */
export function createRenderer({ href, codePage }: References): Renderer {
  let headings: Heading[] = [];
  let hasAnchors = false;
  let isInLink = false;
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const text = plain(tokens);
        const body = this.parser.parseInline(tokens);
        if (!hasAnchors) return `<h${depth + 2}>${body}</h${depth + 2}>\n`;
        const id = uniqueId(anchorOf(text), headings);
        headings.push({ depth, text, id });
        const anchor =
          depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${id}">${body}${anchor}</h${depth}>\n`;
      },
      link({ href: target, tokens }) {
        isInLink = true;
        const body = this.parser.parseInline(tokens);
        isInLink = false;
        return `<a href="${escaped(href(target))}">${body}</a>`;
      },
      image({ href: target, text }) {
        return `<img src="${escaped(href(target))}" alt="${escaped(text)}" loading="lazy">`;
      },
      codespan({ text }) {
        const page = isInLink ? null : codePage(text);
        const code = `<code>${escaped(text)}</code>`;
        return page === null ? code : `<a href="${escaped(page)}">${code}</a>`;
      },
      code: ({ text, lang = '' }) => codeBlock(text, lang.split(/\s/)[0] || undefined).markup,
      table(token) {
        const cell = ({ tokens }: Tokens.TableCell, tag: string) =>
          `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
        const head = token.header.map((one) => cell(one, 'th')).join('');
        const rows = token.rows.map((row) => `<tr>${row.map((one) => cell(one, 'td')).join('')}</tr>`);
        return `<div class="scroll" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>\n`;
      },
      html: ({ text }) => (text.startsWith('<!--') ? '' : escaped(text)),
    },
  });
  const rendered = (text: string) => trusted(marked.parse(text, { async: false }));
  return {
    block: rendered,
    inline: (text) => trusted(marked.parseInline(text, { async: false })),
    page(text) {
      headings = [];
      hasAnchors = true;
      try {
        return { body: rendered(text), headings };
      } finally {
        hasAnchors = false;
      }
    },
  };
}

type Token = { type: string; raw: string; text?: string; tokens?: Token[] };

function plain(tokens: readonly Token[]): string {
  return tokens.map((token) => (token.tokens ? plain(token.tokens) : (token.text ?? token.raw))).join('');
}

/** Returns the anchor of a heading, as GitHub makes it. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');

function uniqueId(anchor: string, before: readonly Heading[]): string {
  for (let nth = 0; ; nth += 1) {
    const id = nth === 0 ? anchor : `${anchor}-${nth}`;
    if (!before.some((heading) => heading.id === id)) return id;
  }
}

/** Returns Markdown as plain text, for search and descriptions. */
export const asText = (markdown: string): string =>
  markdown
    .replace(/^```.*$/gm, '')
    .replace(/^\|[\s:|-]+\|$/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*#|>]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** Returns a text's first sentences, at most `limit` characters, with whole words. */
export function shortened(text: string, limit = 160): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, text.lastIndexOf(' ', limit))} …`;
}
