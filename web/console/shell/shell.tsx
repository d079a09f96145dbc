import { ActionIcon, Anchor, Burger, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconLogout } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useSend } from '../api/queries.ts';
import { SESSION_QUERY, useSession } from '../api/session.ts';
import { PAGES } from '../pages.tsx';
import type { LazyPage } from './lazy-page.tsx';
import { giveUpUnsaved, leaveBy } from './leaving.ts';
import { usePageStart } from './page-start.ts';
import { Palette } from './palette.tsx';
import { usePasteToBegin } from './paste-to-begin.ts';
import { ProblemBadge } from './problem-badge.tsx';
import { SchemeSwitch } from './scheme-switch.tsx';
import { WorkspaceSwitch } from './workspace-switch.tsx';

/** Navigation, header and the page between them. */
export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const [location] = useLocation();
  const { member } = useSession();
  const main = useRef<HTMLElement>(null);
  usePageStart(main, location);
  usePasteToBegin();

  return (
    <>
      <Anchor href="#main" className="skip-link">
        Skip to content
      </Anchor>
      <Group component="header" className="shell-header" justify="space-between" wrap="nowrap">
        <Group gap="sm" wrap="nowrap" miw={0}>
          <Burger
            opened={opened}
            onClick={toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={opened ? 'Close the navigation' : 'Open the navigation'}
            aria-expanded={opened}
          />
          <Text fw={700} component={Link} href="/" c="inherit" td="none" visibleFrom="xs">
            Hoplog
          </Text>
          <WorkspaceSwitch />
        </Group>
        <Group gap="xs" wrap="nowrap">
          <ProblemBadge />
          <Palette />
          <SchemeSwitch />
          <SignOut who={member.email} />
        </Group>
      </Group>
      <nav className="shell-pages" aria-label="Pages" data-opened={opened || undefined}>
        {PAGES.filter((page) => page.icon).map(({ path, title, icon: Icon, load }) => (
          <Link
            key={path}
            href={path}
            onClick={close}
            onPointerEnter={() => fetchAhead(load)}
            onFocus={() => fetchAhead(load)}
            className={isWithin(location, path) ? 'shell-page shell-page-open' : 'shell-page'}
            aria-current={location === path ? 'page' : undefined}
          >
            {Icon && <Icon size={18} stroke={1.6} />}
            {title}
          </Link>
        ))}
      </nav>
      <main className="shell-main" id="main" tabIndex={-1} ref={main}>
        {children}
      </main>
    </>
  );
}

/** Prefetches a page's code. A failure repeats, and shows, when the page opens. */
function fetchAhead(load: LazyPage['load']): void {
  load().catch(() => undefined);
}

/** `/links/x` belongs to Links; Developers is not part of Settings. */
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
        leaveBy(() =>
          signOut.mutate(undefined, {
            onSuccess: () => {
              giveUpUnsaved();
              queries.setQueryData(SESSION_QUERY.queryKey, null);
            },
          }),
        )
      }
    >
      <IconLogout size={18} stroke={1.6} />
    </ActionIcon>
  );
}
