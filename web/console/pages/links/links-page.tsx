import { Button, Group, Stack } from '@mantine/core';
import { IconPlus, IconUpload } from '@tabler/icons-react';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { useSession } from '../../api/session.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Loading } from '../../parts/skeletons.tsx';
import { WindowPicker } from '../../parts/window-picker.tsx';
import { ExportMenu } from './export-menu.tsx';
import { FoldersButton } from './folders-dialog.tsx';
import { useLinkDomains } from './form/use-link-domains.ts';
import { LinksFilters } from './links-filters.tsx';
import { LinksTable } from './links-table.tsx';
import { NO_FILTERS, PAGE_SIZE, type Shown, useLinksView } from './links-view.ts';
import { ShownChips } from './shown-chips.tsx';
import { useFoundLinks } from './use-found-links.ts';

/** What the page looks like with data. */
const EXAMPLE = [
  ['Autumn sale', 'go.example.com/autumn', '1,204 clicks'],
  ['November newsletter', 'go.example.com/letter', '318 clicks'],
];

export { firstRead } from './use-found-links.ts';

const NONE_SHOWN: Record<Exclude<Shown, 'own'>, string> = {
  referral: 'No referral links yet',
  bio: 'No links of bio pages yet',
  program: 'No programs yet',
  archived: 'No archived links',
  all: 'No links yet',
};

/** The list of links with search, filters, sorting and paging. */
export default function LinksPage() {
  const { workspace, can } = useSession();
  const { view, change } = useLinksView();
  const { hosts } = useLinkDomains();
  const links = useFoundLinks(view, workspace.paid);
  // The page is beyond the end: links were deleted, or the URL was edited.
  const pages = links.data && !links.isPlaceholderData ? Math.ceil(links.data.total / PAGE_SIZE) : null;
  const isBeyond = pages !== null && pages > 0 && view.page > pages;
  useEffect(() => {
    if (isBeyond) change({ page: pages === 1 ? null : String(pages) }, { replace: true });
  });
  const isFiltered = Object.keys(view.filters).length > 0;

  return (
    <>
      <PageHeader title="Links" isBar>
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
        <LinksFilters view={view} hosts={hosts} change={change} />
        <Group justify="space-between" gap="sm">
          <ShownChips view={view} change={change} />
          {workspace.paid && <WindowPicker />}
        </Group>
        <QueryView
          query={links}
          skeleton={
            <Loading>
              <LinksTable data={null} view={view} change={change} withDomains={hosts.length > 0} />
            </Loading>
          }
          empty={{
            when: ({ total }) => total === 0,
            show: isFiltered ? (
              <EmptyState
                title="No links match these filters"
                action={
                  <Button variant="default" onClick={() => change({ ...NO_FILTERS, shown: null })}>
                    Clear filters
                  </Button>
                }
              />
            ) : view.shown !== 'own' ? (
              <EmptyState title={NONE_SHOWN[view.shown]} />
            ) : (
              <EmptyState
                title="No links yet"
                example={EXAMPLE}
                action={
                  can('operator') && (
                    <Button component={Link} href="/links/new">
                      Create a link
                    </Button>
                  )
                }
              >
                {can('operator')
                  ? 'Create the first link, or import links from another service.'
                  : 'Ask an operator of the workspace to create one.'}
              </EmptyState>
            ),
          }}
        >
          {(data) => <LinksTable data={data} view={view} change={change} withDomains={hosts.length > 0} />}
        </QueryView>
      </Stack>
    </>
  );
}
