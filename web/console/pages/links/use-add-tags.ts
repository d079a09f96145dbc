import { useQueryClient } from '@tanstack/react-query';
import type { LinkRecord } from '../../api/links.ts';
import { useOneMutation } from '../../api/queries.ts';
import { type ChangeResults, setEach } from './set-each.ts';

/** Adds tags to links. */
export function useAddTags(links: readonly LinkRecord[]) {
  const queries = useQueryClient();
  return useOneMutation<string[], ChangeResults>({
    mutationFn: (added) =>
      setEach(
        'tags',
        links.map(({ id, tags }) => ({ id, value: [...new Set([...tags, ...added])] })),
      ),
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey: [path] }) => typeof path === 'string' && path.startsWith('/links'),
      }),
  });
}
