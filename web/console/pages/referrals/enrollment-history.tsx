import { Table, Text, Title } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import { formatInstant } from '../../formats.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { LongTextCell, ScrollTable } from '../../parts/scroll-table.tsx';
import type { EnrollmentHistory as History } from './responses.ts';

const FIELDS: Record<string, string> = {
  status: 'Status',
  reward_mode: 'Earns as',
  tier: 'Plan',
  program_id: 'Program',
  commission_type: 'Commission type',
  commission_rate: 'Commission rate',
  email: 'Email',
  payout_method: 'Payout address',
};

/** Changes of a referrer, newest first, with masked addresses. */
export function EnrollmentHistory({ partnerId }: { partnerId: string }) {
  const history = useApi<History>(`/enrollments/${partnerId}/history`, { limit: 50 });
  return (
    <section aria-labelledby="history">
      <Title order={2} size="h5" id="history" mb="xs">
        History
      </Title>
      <QueryView
        query={history}
        empty={{ when: (data) => data.history.length === 0, show: <Text size="sm">No changes.</Text> }}
      >
        {(data) => (
          <ScrollTable
            label="Changes of the referrer"
            minWidth={480}
            columns={['Time', 'Field', 'Before', 'After', 'By']}
          >
            <Table.Tbody>
              {data.history.map((entry) => (
                <Table.Tr key={`${entry.at} ${entry.field}`}>
                  <Table.Td>{formatInstant(entry.at)}</Table.Td>
                  <Table.Td>{FIELDS[entry.field] ?? entry.field}</Table.Td>
                  <LongTextCell>{entry.from ?? 'Not set'}</LongTextCell>
                  <LongTextCell>{entry.to ?? 'Not set'}</LongTextCell>
                  <LongTextCell>{entry.by}</LongTextCell>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </ScrollTable>
        )}
      </QueryView>
    </section>
  );
}
