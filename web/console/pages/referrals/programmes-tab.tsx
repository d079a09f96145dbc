import { Button, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatDate } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Programme, Programmes } from './answers.ts';
import { ProgrammeDialog } from './programme-dialog.tsx';
import { termsOf } from './terms.ts';

/** Every programme with its link, what it promises, and how to change it. */
export function ProgrammesTab() {
  const programmes = useApi<Programmes>('/programs');
  const { can } = useSession();
  const [edited, setEdited] = useState<Programme | 'new' | null>(null);
  const create = can('operator') && <Button onClick={() => setEdited('new')}>New programme</Button>;
  return (
    <>
      <QueryView
        query={programmes}
        empty={{
          when: ({ programs }) => programs.length === 0,
          show: (
            <EmptyState title="No programme yet" action={create}>
              A programme says what people earn who bring you new users.
            </EmptyState>
          ),
        }}
      >
        {({ programs }) => (
          <Stack gap="md">
            {create && <Group justify="flex-end">{create}</Group>}
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              {programs.map((programme) => (
                <ProgrammeCard key={programme.id} programme={programme} edit={() => setEdited(programme)} />
              ))}
            </SimpleGrid>
          </Stack>
        )}
      </QueryView>
      {edited && (
        <ProgrammeDialog programme={edited === 'new' ? null : edited} close={() => setEdited(null)} />
      )}
    </>
  );
}

function ProgrammeCard({ programme, edit }: { programme: Programme; edit: () => void }) {
  const { can, urls } = useSession();
  const isActive = programme.status === 'active';
  const link = `${urls.short_url}/${programme.code}`;
  const turn = useSend<void>(
    () => ({
      path: `/programs/${programme.id}`,
      method: 'PATCH',
      body: { status: isActive ? 'paused' : 'active' },
    }),
    { refresh: ['/programs'], done: isActive ? 'Programme paused' : 'Programme resumed' },
  );
  return (
    <Paper withBorder p="md" component="article" aria-label={programme.name}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
          {programme.name}
        </Title>
        <StatusBadge sign={isActive ? 'good' : 'paused'}>{isActive ? 'Active' : 'Paused'}</StatusBadge>
      </Group>
      <Group gap="xs" wrap="nowrap" mt="xs">
        <Text style={{ overflowWrap: 'anywhere' }}>{link}</Text>
        <CopyButton value={link} what="the programme's link" />
      </Group>
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        Code {programme.code}, leads to {programme.destination_url}
      </Text>
      <Stack gap={2} mt="sm" component="ul" pl="md" my="sm">
        {termsOf(programme).map((term) => (
          <Text key={term} component="li" size="sm" style={{ overflowWrap: 'anywhere' }}>
            {term}
          </Text>
        ))}
      </Stack>
      <Group justify="space-between" mt="md">
        <Text size="xs" c="dimmed">
          Since {formatDate(programme.created_at)}
        </Text>
        {can('operator') && (
          <Group gap="xs">
            <Button
              variant="default"
              size="xs"
              loading={turn.isPending}
              onClick={() => turn.mutate()}
              aria-label={`${isActive ? 'Pause' : 'Resume'} ${programme.name}`}
            >
              {isActive ? 'Pause' : 'Resume'}
            </Button>
            <Button variant="default" size="xs" onClick={edit} aria-label={`Edit ${programme.name}`}>
              Edit
            </Button>
          </Group>
        )}
      </Group>
    </Paper>
  );
}
