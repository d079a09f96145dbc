import type { UseQueryResult } from '@tanstack/react-query';
import type { FoundLinks } from '../../api/links.ts';
import { questionOptions, useApi } from '../../api/queries.ts';
import type { PageModule } from '../../shell/lazy-page.tsx';
import { isByOwnColumn, type LinksView, searchQuery, viewOf } from './links-view.ts';

/**
 * Reads the links of a view. Counting their figures takes ten times as long as finding them, so links come first,
 * without figures, unless a figure sorts them.
 *
 * @param withFigures false on a plan without statistics
 */
export function useFoundLinks(view: LinksView, withFigures: boolean): UseQueryResult<FoundLinks> {
  const counted = useApi<FoundLinks>('/links/search', searchQuery(view, withFigures));
  const isCounting = counted.data === undefined || counted.isPlaceholderData;
  const isAhead = withFigures && isByOwnColumn(view.sort) && isCounting && !counted.isError;
  const ahead = useApi<FoundLinks>(isAhead ? '/links/search' : null, searchQuery(view, false));
  return isAhead && ahead.data !== undefined && !ahead.isPlaceholderData ? ahead : counted;
}

/**
 * Sends the read of {@link useFoundLinks} early. A table that renders its rows and figures at once takes half the time.
 */
export const firstRead: PageModule['firstRead'] = (queries, search, { workspace }) =>
  queries.prefetchQuery(
    questionOptions<FoundLinks>({
      path: '/links/search',
      query: searchQuery(viewOf(search), workspace.paid),
    }),
  );
