import { useSearchParams } from 'wouter';
import type { Dimension } from '../../../core/analytics/dimensions.ts';
import type { ChangeParameters } from '../parts/url-parameters.ts';
import { useUrlParameters } from '../parts/url-parameters.ts';
import { type Filter, filterText, toggled, type View, viewOf } from './view.ts';

/** The view in the page's URL, and what changes it. Filters are history entries: back undoes them. */
export function useView(): {
  view: View;
  search: URLSearchParams;
  change: ChangeParameters;
  setFilters: (filters: readonly Filter[]) => void;
  /** Filters by a value, or ends that filter. */
  toggle: (dimension: Dimension, value: string | null) => void;
} {
  const [search, change] = useUrlParameters();
  const [, setSearch] = useSearchParams();
  const view = viewOf(search);
  const setFilters = (filters: readonly Filter[]) =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.delete('f');
      for (const filter of filters) next.append('f', filterText(filter));
      return next;
    });
  return {
    view,
    search,
    change,
    setFilters,
    toggle: (dimension, value) => setFilters(toggled(view.filters, dimension, value)),
  };
}
