import { useSearchParams } from 'wouter';

/** Parameters by name; null or an empty text removes one. */
export type ParameterChanges = Record<string, string | null>;

/** `replace`: without a history entry. */
export type ChangeParameters = (changes: ParameterChanges, options?: { replace?: boolean }) => void;

/** The URL's parameters, which hold a view's state, and a function to change some. */
export function useUrlParameters(): [search: URLSearchParams, change: ChangeParameters] {
  const [search, setSearch] = useSearchParams();
  const change: ChangeParameters = (changes, { replace = false } = {}) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) {
          if (value) next.set(name, value);
          else next.delete(name);
        }
        return next;
      },
      { replace },
    );
  return [search, change];
}
