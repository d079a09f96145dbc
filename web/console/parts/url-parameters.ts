import { useSearchParams } from 'wouter';

/** Parameters by name; null or an empty text takes one away. */
export type ParameterChanges = Record<string, string | null>;

/** `replace`: without a step in the browser's history. */
export type ChangeParameters = (changes: ParameterChanges, options?: { replace?: boolean }) => void;

/** The parameters of the page's URL, where the state of a view is, and how to change some of them. */
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
