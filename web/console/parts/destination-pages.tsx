import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { questionOptions } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import { LetterMark } from './letter-mark.tsx';

type Pages = ResponseOf<'/links/destination-pages'>;
type Page = Pages['pages'][number];

/** What is known of the destinations of links, by link. */
export type DestinationPages = ReadonlyMap<string, Page>;

/** Reads while a worker fetches: a page takes seconds, or its site does not respond. */
const READ_EVERY = 1_500;
const READS = 8;

/**
 * Reads titles and icons of destinations, which workers fetch.
 *
 * @param linkIds in any order
 */
export function useDestinationPages(linkIds: readonly string[]): DestinationPages {
  const ids = linkIds.toSorted().join(',');
  const { data } = useQuery<Pages>({
    ...questionOptions<Pages>({ path: '/links/destination-pages', query: { ids } }),
    enabled: ids !== '',
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.pending === true && state.dataUpdateCount < READS && READ_EVERY,
  });
  return useMemo(() => new Map(data?.pages.map((page) => [page.link_id, page])), [data]);
}

/**
 * The icon of a destination's site, as this service has fetched it: the viewer's browser calls no other site.
 *
 * @param name whose first letter is shown while there is no icon
 */
export const DestinationMark = ({ page, name }: { page: Page | undefined; name: string }) =>
  page?.icon_id ? (
    <img
      className="destination-mark"
      src={`/api/v1/links/destination-icons/${page.icon_id}`}
      width={18}
      height={18}
      alt=""
    />
  ) : (
    <LetterMark name={name} />
  );

/** The host of an address, for its first letter. */
export const hostOf = (url: string): string => URL.parse(url)?.hostname ?? url;
