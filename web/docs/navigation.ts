import { type ApiDocument, endpointsOf, errorPath, eventPath, operationPath, tagPath } from './document.ts';
import { ERROR_CODES } from './error-pages.ts';
import { type Guide, groupedGuides, guidePath } from './guides.ts';
import { type Html, html } from './html.ts';

type Entry = { title: string; path: string; method?: string };
/** A group with an address has a page of its own, which lists its entries. */
type Group = { title: string; path?: string; entries: Entry[] };

/** The parts of the site, each with its groups of pages. */
export type Navigation = { title: string; groups: Group[] }[];

/** Returns the navigation of the whole site. */
export function navigationOf(document: ApiDocument, guides: readonly Guide[]): Navigation {
  const endpoints = endpointsOf(document);
  return [
    {
      title: 'Guides',
      groups: groupedGuides(guides).map((group) => ({
        title: group.title,
        entries: group.guides.map(({ title, file }) => ({ title, path: guidePath(file) })),
      })),
    },
    {
      title: 'API reference',
      groups: [
        { title: 'Overview', path: '/docs/api', entries: [] },
        ...document.tags.map(({ name }) => ({
          title: name,
          path: tagPath(name),
          entries: endpoints
            .filter(({ operation }) => operation.tags.includes(name))
            .map(({ operation, method }) => ({
              title: operation.summary,
              path: operationPath(operation.operationId),
              method,
            })),
        })),
      ],
    },
    {
      title: 'Webhooks and errors',
      groups: [
        {
          title: 'Webhooks',
          path: '/docs/webhooks',
          entries: Object.keys(document.webhooks).map((type) => ({ title: type, path: eventPath(type) })),
        },
        {
          title: 'Errors',
          path: '/docs/errors',
          entries: ERROR_CODES.map((code) => ({ title: code, path: errorPath(code) })),
        },
      ],
    },
  ];
}

/** Returns the navigation with the group of the page at `path` unfolded. */
export function navigationMarkup(navigation: Navigation, path: string): Html {
  return html`${navigation.map(
    ({ title, groups }) => html`<h2>${title}</h2>${groups.map((group) => groupMarkup(group, path))}`,
  )}`;
}

function groupMarkup({ title, path: own, entries }: Group, path: string): Html {
  const isOpen = own === path || entries.some((entry) => entry.path === path);
  const list = html`<ul>${entries.map((entry) => entryMarkup(entry, path))}</ul>`;
  if (own === undefined)
    return html`<details${isOpen && html` open`}><summary>${title}</summary>${list}</details>\n`;
  return html`<a class="group${isOpen && ' open'}" href="${own}"${own === path && html` aria-current="page"`}>${title}</a>${isOpen && entries.length > 0 && list}\n`;
}

const entryMarkup = ({ title, path: own, method }: Entry, path: string): Html =>
  html`<li><a href="${own}"${own === path && html` aria-current="page"`}>${
    method && html`<span class="method ${method.toLowerCase()}">${SHORT[method] ?? method}</span>`
  }<span>${title}</span></a></li>`;

const SHORT: Readonly<Record<string, string>> = { DELETE: 'DEL' };
