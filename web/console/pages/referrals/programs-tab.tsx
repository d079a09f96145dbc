import { Button, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatDate } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { usePrograms } from './filters.tsx';
import { ProgramDialog } from './program-dialog.tsx';
import type { Program } from './responses.ts';
import { termsOf } from './terms.ts';

/** Programs with link, terms and actions. */
export function ProgramsTab() {
  const programs = usePrograms();
  const [edited, setEdited] = useState<Program | null>(null);
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {programs.map((program) => (
          <ProgramCard key={program.id} program={program} edit={() => setEdited(program)} />
        ))}
      </SimpleGrid>
      {edited && <ProgramDialog program={edited} close={() => setEdited(null)} />}
    </>
  );
}

function ProgramCard({ program, edit }: { program: Program; edit: () => void }) {
  const { can, urls } = useSession();
  const isActive = program.status === 'active';
  const link = `${urls.short_url}/${program.code}`;
  const turn = useSend<void>(
    () => ({
      path: `/programs/${program.id}`,
      method: 'PATCH',
      body: { status: isActive ? 'paused' : 'active' },
    }),
    { refresh: ['/referrals', '/programs'], done: isActive ? 'Program paused' : 'Program resumed' },
  );
  return (
    <Paper withBorder p="md" component="article" aria-label={program.name}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
          {program.name}
        </Title>
        <StatusBadge sign={isActive ? 'good' : 'paused'}>{isActive ? 'Active' : 'Paused'}</StatusBadge>
      </Group>
      <Group gap="xs" wrap="nowrap" mt="xs">
        <Text style={{ overflowWrap: 'anywhere' }}>{link}</Text>
        <CopyButton value={link} what="the program's link" />
      </Group>
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        Code {program.code}, destination {program.destination_url}
      </Text>
      <Stack gap={2} mt="sm" component="ul" pl="md" my="sm">
        {termsOf(program).map((term) => (
          <Text key={term} component="li" size="sm" style={{ overflowWrap: 'anywhere' }}>
            {term}
          </Text>
        ))}
      </Stack>
      <Group justify="space-between" mt="md">
        <Text size="xs" c="dimmed">
          Since {formatDate(program.created_at)}
        </Text>
        {can('operator') && (
          <Group gap="xs">
            <Button
              variant="default"
              size="xs"
              loading={turn.isPending}
              onClick={() => turn.mutate()}
              aria-label={`${isActive ? 'Pause' : 'Resume'} ${program.name}`}
            >
              {isActive ? 'Pause' : 'Resume'}
            </Button>
            <Button variant="default" size="xs" onClick={edit} aria-label={`Edit ${program.name}`}>
              Edit
            </Button>
          </Group>
        )}
      </Group>
    </Paper>
  );
}
