import { Table, Text, Title } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import { formatInstant } from '../../formats.ts';
import { ListTab } from '../../parts/list-tab.tsx';
import { LongTextCell } from '../../parts/scroll-table.tsx';
import type { EnrollmentHistory as History } from './responses.ts';

const FIELDS: Record<string, string> = {
  status: 'Status',
  reward_mode: 'Earns as',
  tier: 'Plan',
  program_id: 'Program',
  commission_type: 'Commission type',
  commission_rate: 'Commission rate',
  group_id: 'Group',
  email: 'Email',
  payout_method: 'Payout address',
};

const TABLE = {
  label: 'Changes of the referrer',
  minWidth: 480,
  columns: ['Time', 'Field', 'Before', 'After', 'By'],
};

/** Changes of a referrer, newest first, with masked addresses. */
export function EnrollmentHistory({ partnerId }: { partnerId: string }) {
  const history = useApi<History>(`/enrollments/${partnerId}/history`, { limit: 50 });
  return (
    <section aria-labelledby="history">
      <Title order={2} size="h5" id="history" mb="xs">
        History
      </Title>
      <ListTab
        query={history}
        items={(data) => data.history}
        table={TABLE}
        empty={<Text size="sm">No changes.</Text>}
        row={(entry) => (
          <Table.Tr key={`${entry.at} ${entry.field}`}>
            <Table.Td>{formatInstant(entry.at)}</Table.Td>
            <Table.Td>{FIELDS[entry.field] ?? entry.field}</Table.Td>
            <LongTextCell>{entry.from ?? 'Not set'}</LongTextCell>
            <LongTextCell>{entry.to ?? 'Not set'}</LongTextCell>
            <LongTextCell>{entry.by}</LongTextCell>
          </Table.Tr>
        )}
      />
    </section>
  );
}
