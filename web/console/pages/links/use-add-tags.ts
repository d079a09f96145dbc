import { useQueryClient } from '@tanstack/react-query';
import { callApi } from '../../api/call.ts';
import type { LinkRecord } from '../../api/links.ts';
import { useOneMutation } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';

export type ChangeResults = ResponseOf<'/links/bulk', 'patch'>['results'];

/** Adds tags to links. Links with the same tags then are changed in one call. */
export function useAddTags(links: readonly LinkRecord[]) {
  const queries = useQueryClient();
  return useOneMutation<string[], ChangeResults>({
    mutationFn: async (added) => {
      const groups = new Map<string, { tags: string[]; ids: string[] }>();
      for (const { id, tags: before } of links) {
        const tags = [...new Set([...before, ...added])];
        const group = groups.get(JSON.stringify(tags)) ?? { tags, ids: [] };
        groups.set(JSON.stringify(tags), group);
        group.ids.push(id);
      }
      const results: ChangeResults = [];
      for (const { tags, ids } of groups.values()) {
        const body = { ids, set: { tags } };
        const answer = await callApi<{ results: ChangeResults }>('/links/bulk', { method: 'PATCH', body });
        results.push(...answer.results);
      }
      return results;
    },
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey: [path] }) => typeof path === 'string' && path.startsWith('/links'),
      }),
  });
}
