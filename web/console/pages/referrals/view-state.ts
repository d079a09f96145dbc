import { useSearchParams } from 'wouter';

/** What a view shows, in the page's URL; null or an empty text takes a parameter away. */
export type ViewState = {
  get: (name: string) => string | null;
  /** A changed filter begins the list anew. `replace`: without a step in the browser's history. */
  set: (changes: Record<string, string | null>, options?: { replace?: boolean }) => void;
  /** Shows another tab with these parameters and no others. */
  show: (tab: string, parameters?: Record<string, string>) => void;
};

export function useViewState(): ViewState {
  const [search, setSearch] = useSearchParams();
  return {
    get: (name) => search.get(name) || null,
    set: (changes, { replace = false } = {}) =>
      setSearch(
        (before) => {
          const next = new URLSearchParams(before);
          if (Object.keys(changes).some((name) => !OVERLAYS.has(name))) next.delete('cursor');
          for (const [name, value] of Object.entries(changes)) {
            if (value) next.set(name, value);
            else next.delete(name);
          }
          return next;
        },
        { replace },
      ),
    show: (tab, parameters = {}) => setSearch(new URLSearchParams({ tab, ...parameters })),
  };
}

/** What lies over a list and leaves it where it is. */
const OVERLAYS = new Set(['partner', 'file']);
