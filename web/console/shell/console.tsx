import { Container } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { ownerOf, SESSION_QUERY, type Session, SessionContext } from '../api/session.ts';
import { openPageAt, PAGES, SIGN_IN_PAGE } from '../pages.tsx';
import { Brand } from '../parts/brand.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { BlocksSkeleton } from '../parts/skeletons.tsx';
import { ConfirmIdentity } from './confirm-identity.tsx';
import { PageOf } from './lazy-page.tsx';
import { isUnsaved } from './leaving.ts';
import { PageBoundary } from './page-boundary.tsx';
import { Shell } from './shell.tsx';
import { SignInAgain } from './sign-in-again.tsx';
import { PageSkeleton, ShellSkeleton } from './skeletons.tsx';

/** The application: pages for members, the sign-in for everyone else. */
export function Console() {
  const [location] = useLocation();
  const session = useQuery(SESSION_QUERY);
  const shown = useShown(session.data);

  const openPage = openPageAt(location);
  if (openPage) {
    return (
      <Standalone>
        <PageOf key={location} page={openPage} />
      </Standalone>
    );
  }
  if (session.isPending) return <ShellSkeleton />;
  // A failed refresh of a known session keeps the page: its own requests show what fails.
  if (session.data === undefined) {
    return (
      <Standalone>
        <FailureNotice error={session.error} again={() => void session.refetch()} />
      </Standalone>
    );
  }
  if (!shown) {
    return (
      <Standalone>
        <PageOf page={SIGN_IN_PAGE} />
      </Standalone>
    );
  }
  return (
    <>
      <SessionContext key={ownerOf(shown)} value={shown}>
        <Shell>
          <PageBoundary key={location}>
            <Suspense fallback={<PageSkeleton />}>
              <Switch>
                {PAGES.map((page) => (
                  <Route key={page.path} path={page.path}>
                    <PageOf page={page} />
                  </Route>
                ))}
                <Route>
                  <PageHeader title="Not found" />
                  <EmptyState title="Page not found">Use the navigation to find a page.</EmptyState>
                </Route>
              </Switch>
            </Suspense>
          </PageBoundary>
        </Shell>
      </SessionContext>
      <ConfirmIdentity />
      {session.data === null && (
        <SignInAgain>
          <Standalone>
            <PageOf page={SIGN_IN_PAGE} />
          </Standalone>
        </SignInAgain>
      )}
    </>
  );
}

/**
 * The session whose pages are shown: the current one, or an ended one with unsaved changes, until its member signs in
 * again.
 *
 * @param session null: signed out; undefined: unknown
 */
function useShown(session: Session | null | undefined): Session | null {
  const [known, know] = useState<{ session: Session | null; shown: Session | null }>({
    session: null,
    shown: null,
  });
  if (session === undefined || session === known.session) return known.shown;
  const shown = session ?? (isUnsaved() ? known.shown : null);
  know({ session, shown });
  return shown;
}

function Standalone({ children }: { children: React.ReactNode }) {
  return (
    <Container component="main" size={460} py="xl">
      <div className="brand" style={{ marginBottom: 12 }}>
        <Brand />
      </div>
      <PageBoundary>
        <Suspense fallback={<BlocksSkeleton heights={[34, 60, 60, 36]} />}>{children}</Suspense>
      </PageBoundary>
    </Container>
  );
}
