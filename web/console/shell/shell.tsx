import { Anchor, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, type ReactNode, Suspense, useRef } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useSession } from '../api/session.ts';
import { pathPattern } from '../page-paths.ts';
import { GROUPS, PAGES } from '../pages.tsx';
import { Brand } from '../parts/brand.tsx';
import { GuideContext } from '../parts/guide.ts';
import { CreateLink } from './create-link.tsx';
import type { LazyPage } from './lazy-page.tsx';
import { MemberFoot } from './member-foot.tsx';
import { usePageStart } from './page-start.ts';
import { Palette } from './palette.tsx';
import { usePasteToBegin } from './paste-to-begin.ts';
import { ProblemBadge } from './problem-badge.tsx';
import { WorkspaceSwitch } from './workspace-switch.tsx';

/** Loaded in the sample shop only. */
const SampleBar = lazy(() => import('./sample-bar.tsx'));
/** Loaded on the pages of links only. */
const FolderList = lazy(() => import('./folder-list.tsx'));

/** The page, then header and navigation: the tab key reaches the page first. */
export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const [location] = useLocation();
  // The navigation has the folder, whose page is that of all links.
  const folder = new URLSearchParams(useSearch()).get('folder_id') ?? 'none';
  const page = location === '/links' && folder !== 'none' ? '' : location;
  const { urls, workspace } = useSession();
  const guide = PAGES.find(({ path }) => pathPattern(path).test(location))?.guide;
  const main = useRef<HTMLElement>(null);
  usePageStart(main, location);
  usePasteToBegin();

  return (
    <>
      <Anchor href="#main" className="skip-link">
        Skip to content
      </Anchor>
      <main className="shell-main" id="main" tabIndex={-1} ref={main}>
        {workspace.sample_of !== null && (
          <Suspense fallback={<div className="sample-bar" />}>
            <SampleBar />
          </Suspense>
        )}
        <GuideContext value={guide === undefined ? null : `${urls.base_url}/docs/${guide}`}>
          {children}
        </GuideContext>
      </main>
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
          <Link href="/" className="brand">
            <Brand isNarrow />
          </Link>
          <WorkspaceSwitch />
        </Group>
        <Group gap="xs" wrap="nowrap">
          <ProblemBadge />
          <CreateLink />
          <Palette />
        </Group>
      </Group>
      <div className="shell-pages" data-opened={opened || undefined}>
        <nav aria-label="Pages">
          {GROUPS.map((group) => (
            <div key={group}>
              <div className="shell-group" aria-hidden>
                {group}
              </div>
              <ul className="plain-list" aria-label={group}>
                {PAGES.filter((page) => page.group === group).map(({ path, title, icon: Icon, load }) => (
                  <li key={path}>
                    <Link
                      href={path}
                      onClick={close}
                      onPointerEnter={() => fetchAhead(load)}
                      onFocus={() => fetchAhead(load)}
                      className={isWithin(page, path) ? 'shell-page shell-page-open' : 'shell-page'}
                      aria-current={page === path ? 'page' : undefined}
                    >
                      {Icon && <Icon size={18} stroke={1.6} />}
                      {title}
                    </Link>
                    {path === '/links' && isWithin(location, path) && (
                      <Suspense fallback={null}>
                        <FolderList close={close} />
                      </Suspense>
                    )}
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <MemberFoot />
      </div>
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
