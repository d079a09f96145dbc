import { ActionIcon, Anchor, AppShell, Box, Burger, Group, NavLink, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconLogout } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useSend } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { PAGES } from '../pages.tsx';
import { SchemeSwitch } from './scheme-switch.tsx';

/** Navigation, header and the page between them. */
export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const [location] = useLocation();
  const { workspace, member } = useSession();

  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <Anchor href="#main" className="skip-link">
        Skip to content
      </Anchor>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? 'Close the navigation' : 'Open the navigation'}
              aria-expanded={opened}
            />
            <Text fw={700} component={Link} href="/" c="inherit" td="none">
              Hoplog
            </Text>
            <Text c="dimmed" truncate title={workspace.name}>
              {workspace.name}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SchemeSwitch />
            <SignOut who={member.email} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <Box style={{ overflowY: 'auto' }}>
          {PAGES.filter((page) => page.icon).map(({ path, title, icon: Icon }) => (
            <NavLink
              key={path}
              component={Link}
              href={path}
              label={title}
              onClick={close}
              active={isWithin(location, path)}
              aria-current={location === path ? 'page' : undefined}
              leftSection={Icon && <Icon size={18} stroke={1.6} />}
            />
          ))}
        </Box>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        {children}
      </AppShell.Main>
    </AppShell>
  );
}

/** `/links/x` lies within Links; Developers has an entry of its own beside Settings. */
function isWithin(location: string, path: string): boolean {
  if (path === '/' || path === '/settings') return location === path;
  return location === path || location.startsWith(`${path}/`);
}

function SignOut({ who }: { who: string | null }) {
  const queries = useQueryClient();
  const signOut = useSend<void>(() => ({ path: '/session', method: 'DELETE' }));
  const label = who ? `Sign out ${who}` : 'Sign out';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={label}
      title={label}
      loading={signOut.isPending}
      onClick={() =>
        signOut.mutate(undefined, {
          onSuccess: () => {
            queries.setQueryData(['/session'], null);
            // What one member has seen is not kept for the next.
            queries.removeQueries({ predicate: ({ queryKey: [path] }) => path !== '/session' });
          },
        })
      }
    >
      <IconLogout size={18} stroke={1.6} />
    </ActionIcon>
  );
}
