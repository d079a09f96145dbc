import { Button } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useApi } from '../../api/queries.ts';
import { referrerName } from './referrer-cell.tsx';
import type { Enrollment } from './responses.ts';
import { useViewState } from './view-state.ts';

/** Shows and clears the filter by referrer (`by` in the URL). */
export function OneReferrer() {
  const view = useViewState();
  const partner = view.get('by');
  const enrollment = useApi<Enrollment>(partner && `/enrollments/${partner}`);
  if (partner === null) return null;
  // While loading, the data is of the previous referrer.
  const name = enrollment.isPlaceholderData || !enrollment.data ? undefined : referrerName(enrollment.data);
  return (
    <Button
      size="xs"
      variant="default"
      maw="100%"
      rightSection={<IconX size={14} aria-hidden="true" />}
      onClick={() => view.set({ by: null })}
      title="Show all referrers"
    >
      Only by {name ?? 'one referrer'}
    </Button>
  );
}
