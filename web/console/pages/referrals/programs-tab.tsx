import { Button, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatDate } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Note, SmallNote } from '../../parts/note.tsx';
import { CardsSkeleton } from '../../parts/skeletons.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { AssetsSection } from './assets-section.tsx';
import { usePrograms } from './filters.tsx';
import { GroupsSection } from './groups-section.tsx';
import { PortalDialog } from './portal-dialog.tsx';
import { ProgramDialog } from './program-dialog.tsx';
import type { Program } from './responses.ts';
import { termsOf } from './terms.ts';

/** The actions are at the bottom of each card of a row. */
const COLUMN = { display: 'flex', flexDirection: 'column' } as const;
const COLUMNS = { base: 1, md: 2 };

export const ProgramsSkeleton = () => <CardsSkeleton height={260} cols={COLUMNS} />;

/** Programs with link, terms and actions. */
export function ProgramsTab() {
  const programs = usePrograms();
  const [edited, setEdited] = useState<Program | null>(null);
  const [opened, setOpened] = useState<Program | null>(null);
  return (
    <>
      <SimpleGrid cols={COLUMNS} mb="lg">
        {programs.map((program) => (
          <ProgramCard
            key={program.id}
            program={program}
            edit={() => setEdited(program)}
            openPortal={() => setOpened(program)}
          />
        ))}
      </SimpleGrid>
      <GroupsSection programs={programs} />
      <AssetsSection programs={programs} />
      {edited && <ProgramDialog program={edited} close={() => setEdited(null)} />}
      {opened && <PortalDialog program={opened} close={() => setOpened(null)} />}
    </>
  );
}

type CardProps = { program: Program; edit: () => void; openPortal: () => void };

function ProgramCard({ program, edit, openPortal }: CardProps) {
  const { can, urls } = useSession();
  const isActive = program.status === 'active';
  const link = `${urls.short_url}/${program.code}`;
  const change = (status: Program['status']) =>
    ({ path: `/programs/${program.id}`, method: 'PATCH', body: { status } }) as const;
  const turn = useSend<Program['status']>(change, {
    refresh: ['/referrals', '/programs'],
    done: (_, status) => `${program.name} ${status === 'paused' ? 'paused' : 'resumed'}`,
    undo: (_, status) => change(status === 'paused' ? 'active' : 'paused'),
  });
  return (
    <Paper withBorder p="md" component="article" aria-label={program.name} style={COLUMN}>
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
      <Note style={{ overflowWrap: 'anywhere' }}>
        Code {program.code}, destination {program.destination_url}
      </Note>
      {program.portal.is_open && (
        <Group gap="xs" wrap="nowrap">
          <Note style={{ overflowWrap: 'anywhere' }}>
            Portal {urls.app_url}/p/{program.code}
          </Note>
          <CopyButton value={`${urls.app_url}/p/${program.code}`} what="the address of the portal" />
        </Group>
      )}
      <Stack gap={2} mt="sm" component="ul" pl="md" my="sm">
        {termsOf(program).map((term) => (
          <Text key={term} component="li" size="sm" style={{ overflowWrap: 'anywhere' }}>
            {term}
          </Text>
        ))}
      </Stack>
      <Group justify="space-between" mt="auto">
        <SmallNote>Since {formatDate(program.created_at)}</SmallNote>
        {can('operator') && (
          <Group gap="xs">
            <Button
              variant="default"
              size="xs"
              loading={turn.isPending}
              onClick={() => turn.mutate(isActive ? 'paused' : 'active')}
              aria-label={`${isActive ? 'Pause' : 'Resume'} ${program.name}`}
            >
              {isActive ? 'Pause' : 'Resume'}
            </Button>
            <Button variant="default" size="xs" onClick={openPortal} aria-label={`Portal of ${program.name}`}>
              Portal
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
