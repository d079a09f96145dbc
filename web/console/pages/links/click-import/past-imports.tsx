import { Stack, Table, Title } from '@mantine/core';
import { useApi, useSend } from '../../../api/queries.ts';
import type { ResponseOf } from '../../../api/responses.ts';
import { formatAgo, formatCount, formatDate, formatInstant, plural } from '../../../formats.ts';
import { ConfirmButton } from '../../../parts/confirm-button.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { FigureCell, ScrollTable } from '../../../parts/scroll-table.tsx';
import { StatusBadge } from '../../../parts/status-badge.tsx';
import { type ClickFileKind, KINDS } from './click-source.ts';

type Imports = ResponseOf<'/clicks/imports'>;
type PastImport = Imports['imports'][number];
type Undone = ResponseOf<'/clicks/imports/{id}', 'delete'>;

/** Refresh interval while an undo is still removing clicks. Milliseconds. */
const REFRESH = 5_000;

const isLeaving = ({ undone_at, removed_at }: PastImport) => undone_at !== null && removed_at === null;

/**
 * The imports of the workspace, each with its undo. Empty without imports.
 *
 * @param onUndone called after an undo: the result of a check may be outdated
 */
export function PastImports({ onUndone }: { onUndone: () => void }) {
  const imports = useApi<Imports>(
    '/clicks/imports',
    {},
    {
      every: (last) => (last?.imports.some(isLeaving) ? REFRESH : false),
    },
  );
  return (
    <QueryView query={imports} empty={{ when: ({ imports: all }) => all.length === 0, show: null }}>
      {({ imports: all }) => (
        <Stack gap="sm" component="section" aria-label="Earlier imports">
          <Title order={2} size="h4">
            Earlier imports
          </Title>
          <ScrollTable
            label="Imports"
            minWidth={720}
            columns={[
              'Imported',
              'From',
              { figure: 'Clicks' },
              { figure: 'Orders' },
              'Days of its clicks',
              'State',
            ]}
          >
            <Table.Tbody>
              {all.map((one) => (
                <ImportRow key={one.id} of={one} onUndone={onUndone} />
              ))}
            </Table.Tbody>
          </ScrollTable>
        </Stack>
      )}
    </QueryView>
  );
}

function ImportRow({ of: one, onUndone }: { of: PastImport; onUndone: () => void }) {
  const { id, source, clicks, orders, first_ts, last_ts, created_at } = one;
  const undo = useSend<void, Undone>(() => ({ path: `/clicks/imports/${id}`, method: 'DELETE' }), {
    refresh: ['/clicks', '/analytics', '/channels', '/links', '/visitors'],
    done: ({ complete }) =>
      complete ? 'Import undone' : 'Import undone; its clicks leave once ClickHouse responds',
  });
  const what = [
    plural(clicks, 'click', 'clicks'),
    ...(orders > 0 ? [plural(orders, 'order', 'orders')] : []),
  ];
  return (
    <Table.Tr>
      <Table.Td title={formatInstant(created_at)}>{formatAgo(created_at)}</Table.Td>
      <Table.Td>{KINDS[source as ClickFileKind]?.label ?? source}</Table.Td>
      <FigureCell>{formatCount(clicks)}</FigureCell>
      <FigureCell>{formatCount(orders)}</FigureCell>
      <Table.Td>{first_ts && last_ts ? `${formatDate(first_ts)} – ${formatDate(last_ts)}` : '–'}</Table.Td>
      <Table.Td>
        {isLeaving(one) ? (
          <StatusBadge sign="waiting">Being removed</StatusBadge>
        ) : one.undone_at !== null ? (
          <StatusBadge sign="paused">Undone</StatusBadge>
        ) : (
          <ConfirmButton
            size="xs"
            aria-label={`Undo the import of ${what.join(' and ')}`}
            question="Undo this import?"
            consequence={`${what.join(' and ')} leave every report. You can import the file again.`}
            yes="Undo"
            pending={undo.isPending}
            onConfirm={() => undo.mutateAsync().then(onUndone)}
          >
            Undo
          </ConfirmButton>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
