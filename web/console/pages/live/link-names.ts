import { useEffect, useRef, useState } from 'react';
import { callApi } from '../../api/call.ts';
import type { LinkReport } from '../../api/links.ts';

/** Time to collect the links of a burst for one request. Milliseconds. */
const GATHER = 300;
/** IDs per request. */
const MOST = 100;

/**
 * The slugs of links by ID; null for a deleted link. Cached while the page is open.
 */
export function useLinkNames(ids: readonly string[]): ReadonlyMap<string, string | null> {
  const [names, setNames] = useState<ReadonlyMap<string, string | null>>(new Map());
  const asked = useRef(new Set<string>());
  const missing = [...new Set(ids)].filter((id) => !asked.current.has(id)).slice(0, MOST);
  const key = missing.join(',');

  useEffect(() => {
    if (key === '') return;
    const timer = setTimeout(() => {
      const wanted = key.split(',');
      for (const id of wanted) asked.current.add(id);
      callApi<LinkReport>('/links', {
        query: { ids: key, days: 1 },
      }).then(
        ({ links }) => {
          const found = new Map(links.map(({ link_id, slug }) => [link_id, slug]));
          setNames(
            (before) => new Map([...before, ...wanted.map((id) => [id, found.get(id) ?? null] as const)]),
          );
        },
        // Retried with the link's next click.
        () => {
          for (const id of wanted) asked.current.delete(id);
        },
      );
    }, GATHER);
    return () => clearTimeout(timer);
  }, [key]);
  return names;
}
