import { Button, Stack, Text } from '@mantine/core';
import { IconChartBar, IconCheck, IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { showSession } from '../api/keep-to-session.ts';
import { useSend } from '../api/queries.ts';
import { type Session, useSession } from '../api/session.ts';
import { ROLE_NAMES } from '../pages/sign-in/roles.ts';
import { Dialog } from '../parts/dialog.tsx';
import { giveUpUnsaved, leaveBy } from './leaving.ts';
import { useSampleShop } from './sample-shop.ts';

/** The workspaces that this browser is signed in to. */
export default function WorkspaceDialog({ close }: { close: () => void }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const { workspace, member, other_workspaces: others, can } = useSession();
  const { look, isLooking } = useSampleShop();
  const open = useSend<string, Session>((member_id) => ({ path: '/session/switch', body: { member_id } }));
  const choose = (id: string) =>
    leaveBy(() =>
      open.mutate(id, {
        onSuccess: (session) => {
          giveUpUnsaved();
          navigate('/');
          showSession(queries, session);
        },
      }),
    );
  return (
    <Dialog title="Workspaces" close={close}>
      <Stack gap="xs">
        <Workspace
          name={workspace.name}
          about={`${ROLE_NAMES[member.role]}, ${member.email ?? 'passkey'}`}
          isCurrent
          onChoose={close}
        />
        {others.map(({ member_id, name, email, role }) => (
          <Workspace
            key={member_id}
            name={name}
            about={`${ROLE_NAMES[role]}, ${email ?? 'passkey'}`}
            isLoading={open.isPending && open.variables === member_id}
            onChoose={() => choose(member_id)}
          />
        ))}
        <Button
          component={Link}
          href="/add-workspace"
          variant="subtle"
          justify="flex-start"
          leftSection={<IconPlus size={18} stroke={1.6} aria-hidden />}
          onClick={close}
        >
          Sign in to another workspace
        </Button>
        {workspace.sample_of === null && can('operator') && (
          <Button
            variant="subtle"
            justify="flex-start"
            leftSection={<IconChartBar size={18} stroke={1.6} aria-hidden />}
            loading={isLooking}
            onClick={look}
          >
            Look at sample data
          </Button>
        )}
      </Stack>
    </Dialog>
  );
}

function Workspace({
  name,
  about,
  isCurrent = false,
  isLoading = false,
  onChoose,
}: {
  name: string;
  about: string;
  isCurrent?: boolean;
  isLoading?: boolean;
  onChoose: () => void;
}) {
  return (
    <Button
      variant="default"
      h="auto"
      py="xs"
      justify="space-between"
      aria-current={isCurrent || undefined}
      rightSection={isCurrent && <IconCheck size={18} stroke={1.6} aria-label="Current workspace" />}
      loading={isLoading}
      onClick={onChoose}
      classNames={{ label: 'workspace-name' }}
    >
      <span dir="auto">{name}</span>
      <Text size="sm" c="dimmed" component="span">
        {about}
      </Text>
    </Button>
  );
}
