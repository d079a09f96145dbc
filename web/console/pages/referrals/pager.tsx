import { Button, Group } from '@mantine/core';
import { useViewState } from './view-state.ts';

/** Leads to older rows of a list and back to its beginning; where it stands is in the page's URL. */
export function Pager({ next, what }: { next: string | number | null; what: string }) {
  const view = useViewState();
  const isFirst = view.get('cursor') === null;
  if (isFirst && next === null) return null;
  return (
    <Group justify="flex-end" mt="sm" gap="xs" role="group" aria-label={`Pages of ${what}`}>
      <Button size="xs" variant="default" disabled={isFirst} onClick={() => view.set({ cursor: null })}>
        Newest
      </Button>
      <Button
        size="xs"
        variant="default"
        disabled={next === null}
        onClick={() => view.set({ cursor: String(next) })}
      >
        Older
      </Button>
    </Group>
  );
}
