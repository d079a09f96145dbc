import { useSearchParams } from 'wouter';
import { type ChangeParameters, useUrlParameters } from '../../parts/url-parameters.ts';

/** A view's state in the URL; null or an empty text removes a parameter. */
export type ViewState = {
  get: (name: string) => string | null;
  /** Sets filters and returns to the first rows. */
  set: ChangeParameters;
  /** Shows another tab with only these parameters. */
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

/** Parameters of dialogs above a list, which keep its position. */
const OVERLAYS = new Set(['partner', 'file']);
