import { Anchor, Code, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/call.ts';
import { ApiFailure, isRetryable } from '../../api/failures.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { AcceptInvite, type InviteView } from './accept-invite.tsx';

/** The page of an invitation link. Its token is in the fragment, which is not sent to servers. */
export default function WelcomePage() {
  const token = window.location.hash.slice(1);
  const invite = useQuery<InviteView>({
    queryKey: ['/session/invite/view', token],
    queryFn: () => callApi<InviteView>('/session/invite/view', { method: 'POST', body: { token } }),
    enabled: token !== '',
    // Accepting consumes the invitation: do not refetch.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    retry: (count, error) => count < 2 && isRetryable(error),
  });
  const isUseless = invite.error instanceof ApiFailure && invite.error.status === 401;
  if (token === '' || isUseless) return <UselessInvite />;
  return (
    <>
      <PageHeader title={invite.data ? `Welcome to ${invite.data.workspace.name}` : 'Welcome'} />
      <QueryView query={invite}>{(data) => <AcceptInvite invite={data} token={token} />}</QueryView>
    </>
  );
}

function UselessInvite() {
  return (
    <>
      <PageHeader title="Welcome" />
      <EmptyState title="This invitation is not valid">
        It works once and for a limited time, and its link must be whole. Ask an owner of the workspace for
        another one. The operator of this service creates one with <Code>hoplog console invite</Code>.
      </EmptyState>
      <Text ta="center" size="sm">
        <Anchor href="/console" underline="always">
          Go to the sign-in
        </Anchor>
      </Text>
    </>
  );
}
