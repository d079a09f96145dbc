import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useSession } from '../../api/session.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { OlderRows } from '../../parts/older-rows.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { TableSkeleton } from '../../parts/scroll-table.tsx';
import { WindowPicker } from '../../parts/window-picker.tsx';
import { BioPagesTable, bioPagesTable } from './bio-pages-table.tsx';
import { CreatePage } from './create-page.tsx';
import { useBioPages, useSearchText } from './use-bio-pages.ts';

/** What the page looks like with data. */
const EXAMPLE = [
  ["Ada's links", '/ada', '412 clicks'],
  ['Autumn sale', '/autumn', '96 clicks'],
];

/** Bio pages made in the console, newest first, with their button clicks. */
export default function BioPagesPage() {
  const { can, workspace } = useSession();
  const [text, search] = useSearchText();
  const pages = useBioPages();
  const isSearched = text.trim() !== '';
  const hasNone = !isSearched && pages.data?.bio_pages.length === 0 && pages.data.next_cursor === null;

  return (
    <>
      <PageHeader title="Bio pages">
        {workspace.paid && <WindowPicker />}
        {can('operator') && <CreatePage />}
      </PageHeader>
      {!hasNone && (
        <TextInput
          type="search"
          label="Search"
          placeholder="Title or address"
          leftSection={<IconSearch size={16} aria-hidden="true" />}
          maw={360}
          mb="md"
          maxLength={100}
          value={text}
          onChange={(event) => search(event.currentTarget.value)}
        />
      )}
      <QueryView
        query={pages}
        skeleton={<TableSkeleton {...bioPagesTable(workspace.paid)} isDouble />}
        empty={{
          when: ({ bio_pages, next_cursor }) => bio_pages.length === 0 && next_cursor === null,
          show: isSearched ? (
            <EmptyState title="No page matches this title or address" />
          ) : (
            <EmptyState title="No bio pages yet" example={EXAMPLE}>
              A bio page is one address for all your links. Clicks on every button are counted. Pages that
              were created through the API are not shown here.
              {!can('operator') && ' Operators of the workspace create bio pages.'}
            </EmptyState>
          ),
        }}
      >
        {({ bio_pages, next_cursor }) => (
          <>
            <BioPagesTable pages={bio_pages} />
            <OlderRows next={next_cursor} what="bio pages" />
          </>
        )}
      </QueryView>
    </>
  );
}
