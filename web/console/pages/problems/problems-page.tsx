import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from 'wouter';
import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { useSession } from '../../api/session.ts';
import { formatAgo, formatInstant } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Note } from '../../parts/note.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { CardsSkeleton } from '../../parts/skeletons.tsx';
import { type Problem, wordsOf } from './words.ts';

/** Refresh interval. Milliseconds. */
const REFRESH = 10_000;

/** What is wrong in the workspace, the worst first, each with where it is fixed. */
export default function ProblemsPage() {
  const query = useApi<ResponseOf<'/problems'>>('/problems', {}, { every: REFRESH });
  return (
    <>
      <PageHeader title="Problems" />
      <QueryView
        query={query}
        skeleton={<CardsSkeleton height={104} />}
        empty={{
          when: ({ problems }) => problems.length === 0,
          show: (
            <EmptyState title="Nothing is wrong">
              Webhooks, domains, destinations, connections, fulfilments and mail work, and each order has a
              rate.
            </EmptyState>
          ),
        }}
      >
        {({ problems }) => (
          <Stack component="ul" gap="sm" p={0} m={0} aria-label="Problems" className="plain-list">
            {problems.map((problem) => (
              <Row key={`${problem.kind} ${problem.id ?? problem.name}`} problem={problem} />
            ))}
          </Stack>
        )}
      </QueryView>
    </>
  );
}

function Row({ problem }: { problem: Problem }) {
  const { can } = useSession();
  const { what, advice, fix } = wordsOf(problem);
  return (
    <Paper component="li" withBorder p="md">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Group align="flex-start" gap="sm" wrap="nowrap" flex="1 1 20rem" miw={0}>
          <IconAlertTriangle size={20} stroke={1.6} aria-hidden className="problem-icon" />
          <div style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
            <Title order={2} size="h5">
              {what}
            </Title>
            <Text size="sm">{advice}</Text>
            {problem.since !== null && (
              <Note title={formatInstant(problem.since)}>
                Since {formatInstant(problem.since)}, {formatAgo(problem.since)}
              </Note>
            )}
            {fix !== null && !can('operator') && (
              <Note>Operators and owners of the workspace can fix it.</Note>
            )}
          </div>
        </Group>
        {fix !== null && (
          <Button
            component={Link}
            href={fix.path}
            variant="default"
            size="xs"
            aria-label={`${fix.label}: ${what}`}
          >
            {fix.label}
          </Button>
        )}
      </Group>
    </Paper>
  );
}
