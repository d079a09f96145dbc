import { Badge } from '@mantine/core';
import type { BioPage } from './responses.ts';

/** Whether the page is published. */
export function PublishedBadge({ page }: { page: BioPage }) {
  return (
    <Badge variant="outline" color={page.is_published ? 'hop' : 'gray'} tt="none" flex="none">
      {page.is_published ? 'Published' : 'Not published'}
    </Badge>
  );
}
