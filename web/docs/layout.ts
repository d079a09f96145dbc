import { MARK_URL } from '../../core/mark.ts';
import { type Html, html } from './html.ts';
import { type Navigation, navigationMarkup } from './navigation.ts';
import type { Page } from './page.ts';

/** Addresses of the files that every page loads. */
export type Assets = { style: string; script: string; theme: string; index: string };

/** Returns a page as a document of HTML. */
export function layout(page: Page, navigation: Navigation, assets: Assets): string {
  const { path, title, description, above, lead, body, aside, contents = [] } = page;
  const isHome = path === '/docs';
  return html`${DOCTYPE}
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${description}">
<title>${isHome ? title : `${title} · Hoplog documentation`}</title>
<link rel="icon" type="image/svg+xml" href="${MARK_URL}">
<link rel="alternate" type="text/markdown" href="${markdownPath(path)}">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.theme}"></script>
<script type="module" src="${assets.script}" data-index="${assets.index}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<button type="button" class="menu" popovertarget="navigation" aria-label="Pages"><span aria-hidden="true">☰</span></button>
<a class="brand" href="/docs"><img src="${MARK_URL}" width="22" height="22" alt=""> <strong>Hoplog</strong> docs</a>
<search class="search" hidden><form role="search"><input type="search" name="q" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd></form></search>
<a class="to-console" href="/console">Console</a>
<button type="button" class="theme" data-theme-switch hidden></button>
</header>
<div class="frame">
<nav id="navigation" class="pages" popover aria-label="Pages">${navigationMarkup(navigation, path)}</nav>
<main id="content" class="${aside ? 'with-aside' : 'plain'}">
<div class="head">
${above.length > 0 && html`<p class="above">${above.map((one) => html`<a href="${one.path}">${one.title}</a> <span aria-hidden="true">/</span> `)}</p>`}
<h1>${title}</h1>
${lead}
${contents.length > 2 && tableOfContents(contents)}
</div>
${aside ? html`<div class="aside">${aside}</div>` : ''}
<div class="body">
${body}
</div>
<p class="foot"><a href="${markdownPath(path)}">This page as Markdown</a></p>
</main>
</div>
</body>
</html>
`.markup;
}

const DOCTYPE: Html = { markup: '<!doctype html>' };

/** Returns the address of a page's Markdown. */
export const markdownPath = (path: string): string => (path === '/docs' ? '/docs/index.md' : `${path}.md`);

function tableOfContents(contents: readonly { id: string; text: string }[]): Html {
  return html`<details class="contents"><summary>On this page</summary><ul>${contents.map(
    ({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`,
  )}</ul></details>`;
}
