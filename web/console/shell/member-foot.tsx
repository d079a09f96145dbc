import { ActionIcon, Group, Text } from '@mantine/core';
import { IconBook, IconLogout } from '@tabler/icons-react';
import { useSession } from '../api/session.ts';
import { ROLE_NAMES } from '../pages/sign-in/roles.ts';
import { SchemeSwitch } from './scheme-switch.tsx';
import { useSignOut } from './sign-out.ts';

/** The foot of the navigation: who is signed in, with which role and where; theme, documentation, and the way out. */
export function MemberFoot() {
  const { member, workspace, urls } = useSession();
  return (
    <section className="shell-member" aria-label="Your account">
      {member.email !== null && (
        <Text size="sm" truncate title={member.email}>
          {member.email}
        </Text>
      )}
      <Text size="xs" c="dimmed" truncate dir="auto">
        {ROLE_NAMES[member.role]} of {workspace.name}
      </Text>
      <Group gap="xs" mt={8}>
        <SchemeSwitch />
        <ActionIcon
          component="a"
          href={`${urls.base_url}/docs`}
          target="_blank"
          variant="default"
          size="lg"
          aria-label="Documentation"
          title="Documentation"
        >
          <IconBook size={18} stroke={1.6} />
        </ActionIcon>
        <SignOut who={member.email} />
      </Group>
    </section>
  );
}

function SignOut({ who }: { who: string | null }) {
  const { isPending, signOut } = useSignOut();
  const label = who ? `Sign out ${who}` : 'Sign out';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={label}
      title={label}
      loading={isPending}
      onClick={signOut}
    >
      <IconLogout size={18} stroke={1.6} />
    </ActionIcon>
  );
}
