import { Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { fieldSentence } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { formatAgo, formatInstant } from '../../formats.ts';
import { Note } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { TrashButton } from '../../parts/trash-button.tsx';
import { LeaveGuard } from '../../shell/leave-guard.tsx';

type Comments = ResponseOf<'/links/{id}/comments'>;
type Comment = Comments['comments'][number];

/** Comments on a link; a link has no more. */
const MOST = 500;
const TEXT_LIMIT = 2_000;

/** What the members of the workspace say about a link. */
export function LinkComments({ linkId }: { linkId: string }) {
  const { can } = useSession();
  const path = `/links/${linkId}/comments`;
  const comments = useApi<Comments>(path, { limit: MOST });
  return (
    <Paper withBorder p="md" component="section" aria-label="Comments">
      <Title order={2} size="h4" mb="sm">
        Comments
      </Title>
      <Stack gap="md">
        <QueryView query={comments} lines={2}>
          {({ comments: all }) =>
            all.length === 0 ? (
              <Note>No comments yet. The members of the workspace see them, visitors never do.</Note>
            ) : (
              <Stack component="ul" gap="sm" className="plain-list" aria-label="All comments">
                {all.toReversed().map((comment) => (
                  <Item key={comment.id} comment={comment} path={path} />
                ))}
              </Stack>
            )
          }
        </QueryView>
        {can('operator') && <AddForm path={path} />}
      </Stack>
    </Paper>
  );
}

function AddForm({ path }: { path: string }) {
  const [text, setText] = useState('');
  const add = useSend<{ text: string }>((body) => ({ path, once: true, body }), {
    refresh: [path],
    done: 'Comment added',
    tellFailure: false,
  });
  const isReady = text.trim() !== '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) add.mutate({ text: text.trim() }, { onSuccess: () => setText('') });
  };
  return (
    <form onSubmit={submit}>
      <LeaveGuard active={isReady} />
      <Textarea
        label="Add a comment"
        autosize
        minRows={2}
        maxRows={12}
        maxLength={TEXT_LIMIT}
        value={text}
        error={add.isError && fieldSentence(add.error, 'text')}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button type="submit" mt="xs" size="xs" disabled={!isReady} loading={add.isPending}>
        Comment
      </Button>
    </form>
  );
}

function Item({ comment: { id, text, author, created_at }, path }: { comment: Comment; path: string }) {
  const { member, can } = useSession();
  const isOwn = author.type === 'member' && author.id === member.id;
  const name = author.name ?? (author.type === 'key' ? 'A key' : 'A member');
  const remove = useSend<void>(() => ({ path: `${path}/${id}`, method: 'DELETE' }), {
    refresh: [path],
    done: 'Comment deleted',
    // Only its author may write it again.
    ...(isOwn && { undo: () => ({ path, body: { text } }) }),
  });
  return (
    <li>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Text span size="sm" fw={600}>
            {name}
          </Text>{' '}
          <Text span size="xs" c="dimmed" title={formatInstant(created_at)}>
            <time dateTime={created_at}>{formatAgo(created_at)}</time>
          </Text>
        </Text>
        {can('operator') && (isOwn || can('owner')) && (
          <TrashButton what={`the comment of ${name}`} remove={remove} />
        )}
      </Group>
      <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {text}
      </Text>
    </li>
  );
}
