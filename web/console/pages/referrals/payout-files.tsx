import { Anchor, Button, Group, Modal, Table, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../../api/queries.ts';
import { formatCount, formatInstant, formatMoney } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { OlderRows } from '../../parts/older-rows.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { LongTextCell, ScrollTable } from '../../parts/scroll-table.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { ChoiceFilter, usePrograms } from './filters.tsx';
import { MarkPaidButton } from './mark-paid-button.tsx';
import type { PayoutFiles as Files, PayoutFile, PayoutLines } from './responses.ts';
import { useViewState } from './view-state.ts';
import { methodName, totalsText } from './words.ts';

const PAGE = 20;
const LINES = 100;
const MOST_LINES = 500;

/** Payout files with their totals and status. */
export function PayoutFiles() {
  const view = useViewState();
  const names = new Map(usePrograms().map(({ id, name }) => [id, name]));
  const state = view.get('state');
  const files = useApi<Files>('/payouts', {
    paid: state === null ? null : state === 'paid',
    cursor: view.get('cursor'),
    limit: PAGE,
  });
  const shown = view.get('file');
  return (
    <section aria-labelledby="files">
      <Title order={2} size="h4" id="files" mb="sm">
        Payout files
      </Title>
      <Group mb="md">
        <ChoiceFilter
          name="state"
          label="Status"
          choices={[
            { value: 'paid', label: 'Marked paid' },
            { value: 'open', label: 'Not marked paid' },
          ]}
        />
      </Group>
      <QueryView
        query={files}
        empty={{
          when: ({ payouts }) => payouts.length === 0,
          show: <EmptyState title="No payout files">Every payout file is listed here.</EmptyState>,
        }}
      >
        {({ payouts, next_cursor }) => (
          <>
            <ScrollTable
              label="All payout files"
              minWidth={800}
              columns={['Created', 'Program', 'Referrers', 'Total', 'Status']}
            >
              <Table.Tbody>
                {payouts.map((file) => (
                  <Row
                    key={file.export_id}
                    file={file}
                    program={file.program_id === null ? 'All' : (names.get(file.program_id) ?? '')}
                  />
                ))}
              </Table.Tbody>
            </ScrollTable>
            <OlderRows next={next_cursor} what="payout files" />
          </>
        )}
      </QueryView>
      {shown && <Lines key={shown} exportId={shown} close={() => view.set({ file: null })} />}
    </section>
  );
}

function Row({ file, program }: { file: PayoutFile; program: string }) {
  const view = useViewState();
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor
          component="button"
          size="sm"
          ta="left"
          onClick={() => view.set({ file: file.export_id })}
          title="Payout lines"
        >
          {formatInstant(file.created_at)}
        </Anchor>
        <Text size="xs" c="dimmed">
          {file.export_id}
        </Text>
      </Table.Td>
      <LongTextCell>{program}</LongTextCell>
      <Table.Td className="figure">{formatCount(file.referrers)}</Table.Td>
      <Table.Td className="figure">{totalsText(file.totals)}</Table.Td>
      <Table.Td>
        {file.status === 'canceled' ? (
          <StatusBadge sign="bad">Canceled</StatusBadge>
        ) : file.paid_at === null ? (
          <Group gap="xs">
            <StatusBadge sign="waiting">Not marked paid</StatusBadge>
            <MarkPaidButton file={file} />
          </Group>
        ) : (
          <>
            <StatusBadge sign="good">Paid</StatusBadge>
            <Text size="xs" c="dimmed">
              {formatInstant(file.paid_at)}
            </Text>
          </>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function Lines({ exportId, close }: { exportId: string; close: () => void }) {
  useFocusBack();
  const [limit, setLimit] = useState(LINES);
  const lines = useApi<PayoutLines>(`/payouts/${exportId}/lines`, { limit });
  return (
    <Modal opened onClose={close} title="Payout lines" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <QueryView
        query={lines}
        empty={{ when: (data) => data.lines.length === 0, show: <Text size="sm">No lines.</Text> }}
      >
        {(data) => (
          <>
            <ScrollTable
              label="Lines of the payout file"
              minWidth={480}
              columns={['Referrer', 'Payout method', 'Commissions', 'Amount']}
            >
              <Table.Tbody>
                {data.lines.map((line) => (
                  <Table.Tr key={line.partner_id}>
                    <LongTextCell>{line.external_user_id}</LongTextCell>
                    <Table.Td>{methodName(line.method)}</Table.Td>
                    <Table.Td className="figure">{formatCount(line.commissions)}</Table.Td>
                    <Table.Td className="figure">{formatMoney(line.amount, line.currency)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </ScrollTable>
            {data.next_cursor !== null && limit < MOST_LINES && (
              <Button variant="default" size="xs" onClick={() => setLimit(MOST_LINES)}>
                Show more
              </Button>
            )}
            {data.next_cursor !== null && limit === MOST_LINES && (
              <Text size="sm">The file has more lines.</Text>
            )}
          </>
        )}
      </QueryView>
    </Modal>
  );
}
