import { Table, Text } from '@mantine/core';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatAgo, formatCount, formatInstant } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { FigureCell } from '../../parts/scroll-table.tsx';
import { Section } from '../../parts/section.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { OUTCOME_NAMES, OUTCOME_SIGNS, type PixelProblems, problemText } from './responses.ts';

const TABLE = {
  label: 'Refused and corrected calls',
  minWidth: 720,
  columns: ['What', 'Outcome', { figure: 'Calls' }, 'Last', 'Last value'],
};

/** What the pixel's calls were refused or corrected for, by reason. */
export function PixelProblemsSection() {
  const { can } = useSession();
  const problems = useApi<PixelProblems>('/pixel/problems', {}, { every: 10_000 });
  const clear = useSend<void>(() => ({ path: '/pixel/problems', method: 'DELETE' }), {
    refresh: ['/pixel/problems'],
    done: 'The counts were cleared',
  });
  return (
    <Section
      title="Problems of the pixel"
      about="Calls of your pages that were refused, or recorded with a field changed or left out."
      action={
        can('operator') && problems.data?.problems.length ? (
          <ConfirmButton
            question="Clear the counts?"
            consequence="New problems are counted from then on."
            yes="Clear"
            pending={clear.isPending}
            onConfirm={() => clear.mutateAsync()}
          >
            Clear
          </ConfirmButton>
        ) : null
      }
    >
      <ListTab
        query={problems}
        items={(data) => data.problems}
        table={TABLE}
        empty={<EmptyState title="No problems">Every call of your pages was recorded as it came.</EmptyState>}
        row={(problem) => (
          <Table.Tr key={`${problem.problem}${problem.field}`}>
            <Table.Td>
              <Text size="sm">{problemText(problem)}</Text>
            </Table.Td>
            <Table.Td>
              <StatusBadge sign={OUTCOME_SIGNS[problem.outcome]}>
                {OUTCOME_NAMES[problem.outcome]}
              </StatusBadge>
            </Table.Td>
            <FigureCell>{formatCount(problem.count)}</FigureCell>
            <Table.Td title={formatInstant(problem.last_at)}>{formatAgo(problem.last_at)}</Table.Td>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{problem.example ?? '–'}</Table.Td>
          </Table.Tr>
        )}
      />
    </Section>
  );
}
