import MiniSearch from 'minisearch';
import { Type } from 'typebox';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text/cut.ts';
import { type Hit, SEARCH_OPTIONS } from '../../core/text/search-options.ts';
import type { Site } from '../docs/site.ts';
import { type ReadTool, type Result, readTool } from './tool.ts';

const MOST_HITS = 10;
/** Longest text of a page. Characters. */
const LONGEST_PAGE = 20_000;

/** Returns `search_docs`: the guides and the API reference of this deployment. */
export function searchDocs(site: Site): ReadTool {
  let index: Promise<MiniSearch> | null = null;
  const opened = () => {
    index ??= site.searchIndex().then((json) => MiniSearch.loadJSONAsync(json, SEARCH_OPTIONS));
    index.catch(() => {
      index = null;
    });
    return index;
  };
  return readTool({
    name: 'search_docs',
    title: 'Search the documentation',
    description:
      'Finds guides, operations of the API, fields, events, and errors by words. With `page`, the path of a result, it reads that page.',
    needs: [],
    input: Type.Object({
      query: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Words to find.' })),
      page: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Path of a result.' })),
    }),
    async run(_api, { query, page }) {
      if (page !== undefined) return readPage(site, page);
      if (query === undefined) throw new AppError('bad_request', 'give `query` or `page`');
      const hits = (await opened()).search(query).slice(0, MOST_HITS) as unknown as Hit[];
      if (hits.length === 0) return own('No page has all of these words: use fewer.');
      const found = hits.map(({ url, title, kind, place }) => `${url}: ${title} (${kind}, ${place})`);
      return own(`The best pages first; read one with \`page\`.\n${found.join('\n')}`);
    },
  });
}

async function readPage(site: Site, path: string): Promise<Result> {
  const name = path
    .replace(/^.*?\/docs\//, '')
    .replace(/[#?].*$/, '')
    .replace(/\.md$/, '');
  const asset = await site.file(`${name}.md`);
  if (asset === null) throw new AppError('not_found', 'the documentation has no such page');
  const text = asset.body.identity.toString();
  const rest = text.length > LONGEST_PAGE ? '\n\nThe rest of the page is left out.' : '';
  return own(cutText(text, LONGEST_PAGE) + rest);
}

/** The documentation is of this service: it has no text of others. */
const own = (text: string): Result => ({ summary: text, untrusted: null });
