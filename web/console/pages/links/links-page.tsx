import { Button, Group, Stack } from '@mantine/core';
import { IconPlus, IconUpload } from '@tabler/icons-react';
import { useEffect } from 'react';
import { Link } from 'wouter';
import type { FoundLinks } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { WindowPicker } from '../../parts/window-picker.tsx';
import { ExportMenu } from './export-menu.tsx';
import { FoldersButton } from './folders-dialog.tsx';
import { LinksFilters } from './links-filters.tsx';
import { LinksTable } from './links-table.tsx';
import { PAGE_SIZE, searchQuery, useLinksView } from './links-view.ts';

/** The list of links with search, filters, sorting and paging. */
export default function LinksPage() {
  const { workspace, can } = useSession();
  const { view, change } = useLinksView();
  const links = useApi<FoundLinks>('/links/search', searchQuery(view, workspace.paid));
  // The page is beyond the end: links were deleted, or the URL was edited.
  const pages = links.data && !links.isPlaceholderData ? Math.ceil(links.data.total / PAGE_SIZE) : null;
  const isBeyond = pages !== null && pages > 0 && view.page > pages;
  useEffect(() => {
    if (isBeyond) change({ page: pages === 1 ? null : String(pages) }, { replace: true });
  });
  const isFiltered = Object.keys(view.filters).length > 0;

  return (
    <>
      <PageHeader title="Links">
        {can('operator') && (
          <>
            <Button component={Link} href="/links/new" leftSection={<IconPlus size={18} />}>
              New link
            </Button>
            <Button
              component={Link}
              href="/links/import"
              variant="default"
              leftSection={<IconUpload size={18} />}
            >
              Import
            </Button>
            <FoldersButton />
          </>
        )}
        <ExportMenu view={view} withFigures={workspace.paid} />
      </PageHeader>
      <Stack gap="md">
        <LinksFilters view={view} change={change} />
        {workspace.paid && (
          <Group justify="flex-end">
            <WindowPicker />
          </Group>
        )}
        <QueryView
          query={links}
          lines={8}
          empty={{
            when: ({ total }) => total === 0,
            show: isFiltered ? (
              <EmptyState
                title="No links match these filters"
                action={
                  <Button
                    variant="default"
                    onClick={() =>
                      change({ q: null, channel: null, folder_id: null, tag: null, status: null })
                    }
                  >
                    Clear filters
                  </Button>
                }
              />
            ) : (
              <EmptyState title="No links yet">
                {can('operator')
                  ? 'Create the first link, or import links from another service.'
                  : 'Ask an operator of the workspace to create one.'}
              </EmptyState>
            ),
          }}
        >
          {(data) => <LinksTable data={data} view={view} change={change} withFigures={workspace.paid} />}
        </QueryView>
      </Stack>
    </>
  );
}
