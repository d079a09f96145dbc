import { Center, Container, Loader, Text } from '@mantine/core';
import { Suspense } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { SessionContext, useSessionQuery } from '../api/session.ts';
import { PAGES, SignInPage, WelcomePage } from '../pages.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { PageBoundary } from './page-boundary.tsx';
import { Shell } from './shell.tsx';

/** The whole application: who is signed in sees the pages, everyone else the sign-in. */
export function Console() {
  const [location] = useLocation();
  const session = useSessionQuery();

  if (location === '/welcome') {
    return (
      <Standalone>
        <WelcomePage />
      </Standalone>
    );
  }
  if (session.isPending) return <Waiting />;
  if (session.isError) {
    return (
      <Standalone>
        <FailureNotice error={session.error} again={() => void session.refetch()} />
      </Standalone>
    );
  }
  if (!session.data) {
    return (
      <Standalone>
        <SignInPage />
      </Standalone>
    );
  }
  return (
    <SessionContext value={session.data}>
      <Shell>
        <PageBoundary key={location}>
          <Suspense fallback={<Waiting />}>
            <Switch>
              {PAGES.map(({ path, Component }) => (
                <Route key={path} path={path} component={Component} />
              ))}
              <Route>
                <PageHeader title="Not found" />
                <EmptyState title="There is no such page">Look for it in the navigation.</EmptyState>
              </Route>
            </Switch>
          </Suspense>
        </PageBoundary>
      </Shell>
    </SessionContext>
  );
}

function Standalone({ children }: { children: React.ReactNode }) {
  return (
    <Container component="main" size={460} py="xl">
      <Text fw={700} c="dimmed" mb="xs">
        Hoplog
      </Text>
      <PageBoundary>
        <Suspense fallback={<Waiting />}>{children}</Suspense>
      </PageBoundary>
    </Container>
  );
}

const Waiting = () => (
  <Center mih={240} role="status" aria-label="Loading">
    <Loader />
  </Center>
);
