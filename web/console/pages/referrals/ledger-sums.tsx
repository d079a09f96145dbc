import { Group, Paper, SimpleGrid, Text } from '@mantine/core';
import type { Query } from '../../api/call.ts';
import { useApi } from '../../api/queries.ts';
import { plural } from '../../formats.ts';
import { SmallNote } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import type { Sum, Sums } from './responses.ts';
import { amountText, statusName } from './words.ts';

/** Totals of the filtered entries, by currency and kind of credit. */
export function LedgerSums({ filter }: { filter: Query }) {
  const sums = useApi<Sums>('/ledger/balances', filter);
  return (
    <QueryView query={sums} lines={2} empty={{ when: ({ balances }) => balances.length === 0, show: null }}>
      {({ balances }) => (
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} role="group" aria-label="Totals of these entries">
          {[...new Set(balances.map(keyOf))].map((key) => (
            <UnitSums key={key} parts={balances.filter((part) => keyOf(part) === key)} />
          ))}
        </SimpleGrid>
      )}
    </QueryView>
  );
}

const unitOf = ({ currency, credit_kind }: Sum) => currency?.toUpperCase() ?? credit_kind ?? '';

/** A kind of credit may have the name of a currency. */
const keyOf = (sum: Sum) => `${sum.kind} ${unitOf(sum)}`;

function UnitSums({ parts }: { parts: Sum[] }) {
  const [first] = parts;
  if (!first) return null;
  const entries = parts.reduce((sum, part) => sum + part.entries, 0);
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" gap="xs">
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {unitOf(first)}
        </Text>
        <SmallNote>
          {first.kind === 'credit' ? 'Credits' : 'Commission'}, {plural(entries, 'entry', 'entries')}
        </SmallNote>
      </Group>
      {parts.map(({ status, amount, currency, credit_kind }) => (
        <Group key={status} justify="space-between" gap="xs">
          <Text size="sm">{statusName(status)}</Text>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {amountText(amount, currency, credit_kind)}
          </Text>
        </Group>
      ))}
    </Paper>
  );
}
