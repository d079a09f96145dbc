import MiniSearch from 'minisearch';
import { SEARCH_OPTIONS } from '../../core/text/search-options.ts';
import { type ApiDocument, endpointsOf, errorPath, eventPath, operationPath } from './document.ts';
import { ERROR_CODES, errorPage, errorsPage } from './error-pages.ts';
import { type Guide, guideHref, guidePage } from './guides.ts';
import { homePage } from './home-page.ts';
import { type Assets, layout, markdownPath } from './layout.ts';
import { llmsFull, llmsIndex } from './llms.ts';
import { createRenderer, type References } from './markdown.ts';
import { navigationOf } from './navigation.ts';
import { operationPage } from './operation-page.ts';
import type { Page } from './page.ts';
import { apiPage, tagPage } from './tag-pages.ts';
import { webhookPage } from './webhook-pages.ts';

export type Sources = {
  document: ApiDocument;
  guides: readonly Guide[];
  /** Address of the repository's files, for links that leave `docs/`. */
  repository: string;
};

/** Returns every page of the site. */
export function pagesOf({ document, guides, repository }: Sources): Page[] {
  const codePage = codePagesOf(document);
  const renderer = createRenderer({ codePage, href: (target) => target });
  return [
    homePage(),
    ...guides.map((guide) => {
      const href: References['href'] = (target) => guideHref(guide.file, target, repository);
      return guidePage(guide, createRenderer({ codePage, href }), repository);
    }),
    apiPage(document, renderer),
    ...document.tags.map((tag) => tagPage(document, tag, renderer)),
    ...endpointsOf(document).map((endpoint) => operationPage(document, endpoint, renderer)),
    ...Object.entries(document.webhooks).map(([type, { post }]) =>
      webhookPage(document, type, post, renderer),
    ),
    errorsPage(renderer),
    ...ERROR_CODES.map((code) => errorPage(document, code, renderer)),
  ];
}

/** Returns the file of each page by its path below the site's folder. */
export function filesOf(
  pages: readonly Page[],
  sources: Sources,
  assets: Assets,
): { path: string; content: string }[] {
  const navigation = navigationOf(sources.document, sources.guides);
  return [
    ...pages.flatMap((page) => [
      { path: `${fileOf(page.path)}.html`, content: layout(page, navigation, assets) },
      { path: `${fileOf(page.path)}.md`, content: page.markdown },
    ]),
    // An index of guides also has the name that links of other Markdown files use.
    ...pages
      .filter(({ path }) => path === '/docs/operations')
      .map(({ markdown }) => ({
        path: 'operations/README.md',
        content: markdown,
      })),
    { path: 'llms.txt', content: llmsIndex(pages, sources.guides) },
    { path: 'llms-full.txt', content: llmsFull(pages) },
  ];
}

const fileOf = (path: string): string =>
  markdownPath(path)
    .replace(/^\/docs\//, '')
    .replace(/\.md$/, '');

/** Returns the search index as JSON. */
export function searchIndexOf(pages: readonly Page[]): string {
  const index = new MiniSearch(SEARCH_OPTIONS);
  index.addAll(pages.flatMap(({ found }) => found));
  return JSON.stringify(index);
}

/** Returns which page explains a piece of code: `GET /links/:id`, `not_found`, `sale.created`, `links.create`. */
function codePagesOf(document: ApiDocument): References['codePage'] {
  const pages = new Map<string, string>(ERROR_CODES.map((code) => [code, errorPath(code)]));
  for (const type of Object.keys(document.webhooks)) pages.set(type, eventPath(type));
  for (const { operation, method, path } of endpointsOf(document)) {
    pages.set(operation.operationId, operationPath(operation.operationId));
    pages.set(`${method} ${callName(path)}`, operationPath(operation.operationId));
  }
  return (code) => {
    const [, method, path] = /^(GET|POST|PATCH|PUT|DELETE) (\/[^\s?]+)/.exec(code) ?? [];
    return pages.get(method && path ? `${method} ${callName(path)}` : code) ?? null;
  };
}

/** Returns a path without the parts that texts write differently: the base path, and the names of parameters. */
const callName = (path: string): string =>
  path.replace(/^\/api\/v1/, '').replace(/\{[^}]+\}|:\w+|<[^>]+>/g, '*');
