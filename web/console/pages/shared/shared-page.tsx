import { Button, Container, Group, PasswordInput, Stack, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { reportHeight } from '../../../embed/report-height.ts';
import { callApi } from '../../api/call.ts';
import { ApiFailure, isRetryable } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { Dashboard } from '../../dashboard/dashboard.tsx';
import { viewerTimeZone } from '../../formats.ts';
import { Brand } from '../../parts/brand.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FailureNotice } from '../../parts/failure-notice.tsx';
import { BlocksSkeleton } from '../../parts/skeletons.tsx';
import { PageBoundary } from '../../shell/page-boundary.tsx';
import { SchemeSwitch } from '../../shell/scheme-switch.tsx';
import { askedLook } from './frame-look.ts';

type SharedView = ResponseOf<'/shared/{token}'>;

/** Whether a page of another site, or of ours, shows this one. */
const IS_FRAMED = window.parent !== window;

/** A dashboard that a workspace shares: no sign-in, and nothing of the workspace besides it. */
export default function SharedPage() {
  const [, token = ''] = /^\/shared\/([^/]+)/.exec(location.pathname) ?? [];
  const path = `/shared/${token}`;
  useEffect(() => {
    if (IS_FRAMED) reportHeight();
    const { background } = askedLook(location.search);
    if (background !== null) document.body.style.background = background;
  }, []);
  const view = useQuery<SharedView>({
    queryKey: [path],
    queryFn: () => callApi<SharedView>(path),
    retry: (count, error) => count < 2 && isRetryable(error),
  });
  const status = view.error instanceof ApiFailure ? view.error.status : null;
  if (view.data && status !== 401 && status !== 404) {
    const { name, currency, time_zone, show_revenue, annotations, is_scope_gone } = view.data;
    return (
      <Frame>
        <Dashboard
          title={name}
          source={{
            path: `${path}/query`,
            currency,
            zone: time_zone ?? viewerTimeZone(),
            withRevenue: show_revenue,
            isConsole: false,
            annotations,
          }}
          empty={
            is_scope_gone ? (
              <EmptyState title="What this dashboard showed is gone">
                Its links, or the folder or tags of its links, were deleted. Ask the person who shares it.
              </EmptyState>
            ) : (
              <EmptyState title="No clicks in this period">Choose a longer period.</EmptyState>
            )
          }
        />
      </Frame>
    );
  }
  if (view.isPending) {
    return (
      <Frame>
        <BlocksSkeleton heights={[34, 36, 90, 360]} />
      </Frame>
    );
  }
  if (status === 401) return <Unlock path={path} />;
  return (
    <Frame>
      {status === 404 ? (
        <>
          <Title order={1} size="h2">
            Not found
          </Title>
          <EmptyState title="This dashboard does not exist, or is no longer shared">
            Ask the person who sent you the link.
          </EmptyState>
        </>
      ) : (
        <FailureNotice error={view.error} again={() => void view.refetch()} />
      )}
    </Frame>
  );
}

function Unlock({ path }: { path: string }) {
  const queries = useQueryClient();
  const [password, setPassword] = useState('');
  const unlock = useSend<string>((text) => ({ path: `${path}/unlock`, body: { password: text } }), {
    tellFailure: false,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (password !== '') unlock.mutate(password, { onSuccess: () => void queries.invalidateQueries() });
  };
  return (
    <Frame>
      <form onSubmit={submit}>
        <Stack maw={360} mx="auto" mt="xl" gap="sm">
          <Title order={1} size="h3">
            This dashboard has a password
          </Title>
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            value={password}
            error={unlock.isError && sentenceOf(unlock.error)}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Button type="submit" disabled={password === ''} loading={unlock.isPending}>
            Open
          </Button>
        </Stack>
      </form>
    </Frame>
  );
}

const Frame = ({ children }: { children: ReactNode }) => (
  <Container size="xl" py="md">
    {!IS_FRAMED && (
      <Group component="header" justify="space-between" mb="sm">
        <div className="brand">
          <Brand />
        </div>
        {askedLook(location.search).theme === null && <SchemeSwitch />}
      </Group>
    )}
    <main>
      <PageBoundary>{children}</PageBoundary>
    </main>
  </Container>
);
