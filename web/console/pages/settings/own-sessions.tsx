import { Badge, Button, Group, Text } from '@mantine/core';
import { useApi, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { formatAgo, formatDate, formatInstant, plural } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Note } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Section } from '../../parts/section.tsx';
import { PlainList } from './plain-list.tsx';

type OwnSession = ResponseOf<'/sessions'>['sessions'][number];

const refresh = ['/sessions'];
const nameOf = ({ browser, os }: OwnSession) =>
  browser === 'Other' && os === 'Other' ? 'Unknown browser' : `${browser} on ${os}`;

/** The member's sessions. */
export function OwnSessions() {
  const sessions = useApi<ResponseOf<'/sessions'>>('/sessions');
  const endOthers = useSend<void, ResponseOf<'/sessions', 'delete'>>(
    () => ({ path: '/sessions', method: 'DELETE' }),
    {
      refresh,
      done: ({ ended }) => `Signed out of ${plural(ended, 'browser', 'browsers')}`,
    },
  );
  const others = (sessions.data?.sessions ?? []).some(({ current }) => !current);
  return (
    <Section
      title="Where you are signed in"
      about="A browser is signed out after 14 days without activity."
      action={
        others && (
          <ConfirmButton
            question="Sign out everywhere else?"
            consequence="Every other browser must sign in again. This one stays signed in."
            yes="Sign out"
            pending={endOthers.isPending}
            onConfirm={() => endOthers.mutateAsync()}
          >
            Sign out everywhere else
          </ConfirmButton>
        )
      }
    >
      <QueryView query={sessions} lines={2}>
        {(data) => (
          <PlainList label="Your sessions">
            {data.sessions.map((session) => (
              <SessionItem key={session.id} session={session} />
            ))}
          </PlainList>
        )}
      </QueryView>
    </Section>
  );
}

function SessionItem({ session }: { session: OwnSession }) {
  const end = useSend<void>(() => ({ path: `/sessions/${session.id}`, method: 'DELETE' }), {
    refresh,
    done: `${nameOf(session)} was signed out`,
  });
  return (
    <li>
      <Group justify="space-between" gap="xs">
        <div>
          <Text>{nameOf(session)}</Text>
          <Note title={formatInstant(session.last_seen_at)}>
            Last seen {formatAgo(session.last_seen_at)}, signed in {formatDate(session.created_at)}
          </Note>
        </div>
        {session.current ? (
          <Badge variant="outline" tt="none">
            This browser
          </Badge>
        ) : (
          <Button
            size="xs"
            variant="default"
            loading={end.isPending}
            aria-label={`Sign out ${nameOf(session)}, last seen ${formatAgo(session.last_seen_at)}`}
            onClick={() => end.mutate()}
          >
            Sign out
          </Button>
        )}
      </Group>
    </li>
  );
}
