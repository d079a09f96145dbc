import { Button, Group } from '@mantine/core';
import { useUrlParameters } from './url-parameters.ts';

/** The cursor of a paged list, in the page's URL. */
export function useCursor(): string | undefined {
  const [search] = useUrlParameters();
  return search.get('cursor') ?? undefined;
}

/**
 * Links to older rows of a list and back to the newest; the cursor is in the page's URL.
 *
 * @param next the answer's `next_cursor`
 * @param what the rows, such as `webhooks`
 * @param isSorted in another order than the newest first
 */
export function OlderRows({
  next,
  what,
  isSorted = false,
}: {
  next: string | number | null;
  what: string;
  isSorted?: boolean;
}) {
  const [search, change] = useUrlParameters();
  const isNewest = !search.get('cursor');
  if (isNewest && next === null) return null;
  const go = (cursor: string | number | null) => change({ cursor: cursor === null ? null : String(cursor) });
  return (
    <Group justify="flex-end" mt="sm" gap="xs" role="group" aria-label={`Pages of ${what}`}>
      <Button size="xs" variant="default" disabled={isNewest} onClick={() => go(null)}>
        {isSorted ? 'First' : 'Newest'}
      </Button>
      <Button size="xs" variant="default" disabled={next === null} onClick={() => go(next)}>
        {isSorted ? 'Next' : 'Older'}
      </Button>
    </Group>
  );
}
