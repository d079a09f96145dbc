import { useSearchParams } from 'wouter';
import { type ChangeParameters, useUrlParameters } from '../../parts/url-parameters.ts';

/** What a view shows, in the page's URL; null or an empty text takes a parameter away. */
export type ViewState = {
  get: (name: string) => string | null;
  /** A changed filter begins the list anew. */
  set: ChangeParameters;
  /** Shows another tab with these parameters and no others. */
  show: (tab: string, parameters?: Record<string, string>) => void;
};

export function useViewState(): ViewState {
  const [search, change] = useUrlParameters();
  const [, setSearch] = useSearchParams();
  return {
    get: (name) => search.get(name) || null,
    set: (changes, options) => {
      const isList = Object.keys(changes).some((name) => !OVERLAYS.has(name));
      change({ ...(isList && { cursor: null }), ...changes }, options);
    },
    show: (tab, parameters = {}) => setSearch(new URLSearchParams({ tab, ...parameters })),
  };
}

/** What lies over a list and leaves it where it is. */
const OVERLAYS = new Set(['partner', 'file']);
