import { Checkbox, Group, Kbd, Pagination, Skeleton, Table, Text, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { lazy, Suspense, useCallback, useLayoutEffect, useMemo, useRef } from 'react';
import type { Folders, FoundLinks } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { plural } from '../../formats.ts';
import { ColumnsButton } from '../../parts/columns-button.tsx';
import { useDestinationPages } from '../../parts/destination-pages.tsx';
import { writeDragged } from '../../parts/dragged-links.ts';
import { SmallNote } from '../../parts/note.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { CardsSkeleton } from '../../parts/skeletons.tsx';
import { type SortColumn, SortHeading } from '../../parts/sort-heading.tsx';
import { useRowKeys } from '../../parts/use-row-keys.ts';
import { LinkCards } from './link-cards.tsx';
import { DestinationPagesContext, SparklinesContext, useLinkColumns } from './link-columns.tsx';
import { LinkRow } from './link-row.tsx';
import { type LinksView, PAGE_SIZE, type Sort } from './links-view.ts';
import { useSelection } from './use-selection.ts';
import { useSparklines } from './use-sparklines.ts';

/** Loaded with the first selection: the dialogs of its changes are large. */
const BulkBar = lazy(() => import('./bulk-bar.tsx'));

type Props = {
  /** Null: it loads. */
  data: FoundLinks | null;
  view: LinksView;
  change: (changes: Record<string, string | null>) => void;
  /** Whether rows name their domain. */
  withDomains: boolean;
};

/** One page of links; the headings sort. An operator selects rows, to change them together. */
export function LinksTable({ data, view, change, withDomains }: Props) {
  const { total, links } = data ?? { total: 0, links: [] };
  const { workspace, urls, can } = useSession();
  const selection = useSelection(links.map(({ link }) => link.id));
  // Beside the navigation, a table has no room for figures on a tablet.
  const isNarrow = useMediaQuery('(max-width: 61.99em)', undefined, { getInitialValueInEffect: false });
  const mayChange = can('operator');
  const pages = Math.max(1, Math.ceil(total / PAGE_SIZE));
  const columns = useLinkColumns();
  const isPresent = (key: string) => columns.shown.some((column) => column.key === key);
  const folders = useApi<Folders>(isPresent('folder') ? '/folders' : null, { limit: 500 });
  const sparklines = useSparklines(links, view.window, workspace.paid && !isNarrow && isPresent('trend'));
  const destinations = useDestinationPages(links.map(({ link }) => link.id));
  const context = useMemo(
    () => ({
      currency: workspace.currency,
      folders: new Map(folders.data?.folders.map(({ id, name }) => [id, name])),
    }),
    [workspace.currency, folders.data],
  );
  // Only a paid plan changes links.
  const mayMove = mayChange && workspace.paid;
  const drag = useDrag(links, selection.isChosen);
  const ownHost = new URL(urls.short_url).host;
  useRowKeys({
    rows: 'a.link-slug',
    select: (index) => {
      const found = links[index];
      if (found && mayChange) selection.toggle(found.link.id);
    },
  });
  return (
    <>
      <Group justify="space-between" mb="xs" gap="sm">
        <Text size="sm" c="dimmed" role="status">
          {data === null ? 'Loading links' : plural(total, 'link', 'links')}
          {pages > 1 && `, page ${Math.min(view.page, pages)} of ${pages}`}
        </Text>
        <Group gap="md" visibleFrom="md">
          <SmallNote>
            <Kbd size="xs">j</Kbd> <Kbd size="xs">k</Kbd> move
            {mayChange && (
              <>
                , <Kbd size="xs">x</Kbd> selects
              </>
            )}
            , <Kbd size="xs">Enter</Kbd> opens, <Kbd size="xs">/</Kbd> searches
          </SmallNote>
          <ColumnsButton columns={columns} />
        </Group>
      </Group>
      {isNarrow && data === null ? (
        <CardsSkeleton count={6} height={120} />
      ) : isNarrow ? (
        <LinkCards
          rows={links}
          destinations={destinations}
          withFigures={workspace.paid}
          ownHost={withDomains ? ownHost : null}
          selection={mayChange ? selection : null}
        />
      ) : (
        <ScrollTable label="Links" className="dense-rows" minWidth={300 + 72 * columns.shown.length}>
          <Table.Thead>
            <Table.Tr>
              {mayChange && (
                <Table.Th w={40}>
                  <Checkbox
                    aria-label="Select this page"
                    checked={links.length > 0 && selection.chosen.length === links.length}
                    indeterminate={selection.chosen.length > 0 && selection.chosen.length < links.length}
                    onChange={selection.toggleAll}
                  />
                </Table.Th>
              )}
              <SortHeading column={sortColumn('name', 'Link', false, { view, change })} />
              <Table.Th w={48}>
                <VisuallyHidden>Copy</VisuallyHidden>
              </Table.Th>
              {columns.shown.map(({ key, name, sort, isFigure }) =>
                sort ? (
                  <SortHeading
                    key={key}
                    column={sortColumn(sort, name, isFigure === true, { view, change })}
                  />
                ) : (
                  <Table.Th key={key}>{name}</Table.Th>
                ),
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data === null && <WaitingRows cells={columns.shown.length + (mayChange ? 3 : 2)} />}
            <DestinationPagesContext value={destinations}>
              <SparklinesContext value={sparklines}>
                {links.map((found) => (
                  <LinkRow
                    key={found.link.id}
                    found={found}
                    host={withDomains ? ownHost : null}
                    columns={columns.shown}
                    context={context}
                    isChosen={selection.isChosen(found.link.id)}
                    toggle={mayChange ? selection.toggle : null}
                    drag={mayMove ? drag : null}
                  />
                ))}
              </SparklinesContext>
            </DestinationPagesContext>
          </Table.Tbody>
        </ScrollTable>
      )}
      {pages > 1 && (
        <Group component="nav" aria-label="Pages of links" justify="center" mt="md">
          <Pagination
            total={pages}
            value={Math.min(view.page, pages)}
            onChange={(page) => change({ page: page === 1 ? null : String(page) })}
            siblings={1}
            getItemProps={(page) => ({ 'aria-label': `Page ${page}` })}
            getControlProps={(control) => ({ 'aria-label': CONTROL_NAMES[control] })}
          />
        </Group>
      )}
      {mayChange && selection.chosen.length > 0 && (
        <Suspense fallback={null}>
          <BulkBar
            links={links.flatMap(({ link }) => (selection.isChosen(link.id) ? [link] : []))}
            clear={selection.clear}
          />
        </Suspense>
      )}
    </>
  );
}

/** Returns what puts a link, or all selected ones with it, into a drag. The same function in every render. */
function useDrag(links: FoundLinks['links'], isChosen: (id: string) => boolean) {
  const latest = useRef({ links, isChosen });
  useLayoutEffect(() => {
    latest.current = { links, isChosen };
  });
  return useCallback((id: string, drag: DataTransfer) => {
    const now = latest.current;
    const isOne = !now.isChosen(id);
    const dragged = now.links.flatMap(({ link }) =>
      link.id === id || (!isOne && now.isChosen(link.id)) ? [link] : [],
    );
    writeDragged(drag, dragged);
  }, []);
}

const CONTROL_NAMES = {
  first: 'First page',
  previous: 'Previous page',
  next: 'Next page',
  last: 'Last page',
};

const WaitingRows = ({ cells }: { cells: number }) =>
  [...Array(WAITING_ROWS).keys()].map((row) => (
    <Table.Tr key={row}>
      {[...Array(cells).keys()].map((cell) => (
        <Table.Td key={cell}>
          <Skeleton height={12} width="70%" />
        </Table.Td>
      ))}
    </Table.Tr>
  ));

const WAITING_ROWS = 12;

/** The first press sorts names ascending and everything else descending; the next reverses it. */
function sortColumn(
  sort: Sort,
  name: string,
  isFigure: boolean,
  { view, change }: Pick<Props, 'view' | 'change'>,
): SortColumn {
  const isSorted = view.sort === sort;
  const descending = isSorted ? !view.descending : sort !== 'name';
  return {
    name,
    isFigure,
    sorted: !isSorted ? null : view.descending ? 'descending' : 'ascending',
    press: () => change({ sort: sort === 'created' ? null : sort, order: orderText(sort, descending) }),
  };
}

/** The URL parameter; omitted for the default order. */
function orderText(sort: Sort, descending: boolean): string | null {
  if (descending === (sort !== 'name')) return null;
  return descending ? 'desc' : 'asc';
}
