import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/call.ts';
import { useApi } from '../../api/queries.ts';
import { useCursor } from '../../parts/older-rows.tsx';
import { useUrlParameters } from '../../parts/url-parameters.ts';
import type { BioPage, BioPageList } from './responses.ts';

/** Few, because each page's clicks are a request of their own. */
const PAGE_SIZE = 10;
/** The API's maximum. */
const MOST_AT_ONCE = 200;

/** The search text, in the page's URL. */
export function useSearchText(): [string, (text: string) => void] {
  const [search, change] = useUrlParameters();
  const choose = (text: string) => change({ cursor: null, q: text }, { replace: true });
  return [search.get('q') ?? '', choose];
}

/** The pages that match the URL's search text, newest first, from its cursor. */
export function useBioPages(): UseQueryResult<BioPageList> {
  const [text] = useSearchText();
  const wanted = text.trim().toLowerCase();
  const cursor = useCursor();
  const listed = useApi<BioPageList>(wanted === '' ? '/bio-pages' : null, { limit: PAGE_SIZE, cursor });
  // The API has no search for pages: read all once and filter here.
  const found = useQuery({
    queryKey: ['/bio-pages', 'all'],
    queryFn: ({ signal }) => allPages(signal),
    enabled: wanted !== '',
    placeholderData: keepPreviousData,
    select: (pages) =>
      cut(
        pages.filter(({ title, slug }) => title.toLowerCase().includes(wanted) || slug.includes(wanted)),
        cursor,
      ),
  });
  return wanted === '' ? listed : found;
}

async function allPages(signal: AbortSignal): Promise<BioPage[]> {
  const pages: BioPage[] = [];
  let cursor: string | null = null;
  do {
    const query = { limit: MOST_AT_ONCE, cursor };
    const answer: BioPageList = await callApi<BioPageList>('/bio-pages', { query, signal });
    pages.push(...answer.bio_pages);
    cursor = answer.next_cursor;
  } while (cursor !== null);
  return pages;
}

/** Pages a list like the API. */
function cut(pages: BioPage[], cursor: string | undefined): BioPageList {
  const rest = cursor === undefined ? pages : pages.filter(({ created_at }) => created_at < cursor);
  const shown = rest.slice(0, PAGE_SIZE);
  return {
    bio_pages: shown,
    next_cursor: rest.length > PAGE_SIZE ? (shown.at(-1)?.created_at ?? null) : null,
  };
}
