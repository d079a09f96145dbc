import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatExact, formatInstant, plural } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { Note, SmallNote } from '../../parts/note.tsx';
import { FigureCell, LongTextCell } from '../../parts/scroll-table.tsx';
import { useGroups, usePrograms } from './filters.tsx';
import { MessageDialog } from './message-dialog.tsx';
import type { Message, Messages } from './responses.ts';
import { useViewState } from './view-state.ts';

const PAGE = 20;
const TABLE = {
  label: 'List of messages',
  isDouble: true,
  minWidth: 760,
  columns: [
    'Message',
    'To',
    { figure: 'Delivered' },
    { figure: 'Failed' },
    { figure: 'Unsubscribed' },
    'Sent',
  ],
};

/** Messages to referrers, and a button that writes one. */
export function MessagesTab() {
  const view = useViewState();
  const { can, sends_mail: sendsMail } = useSession();
  const programs = usePrograms();
  const [isOpen, setOpen] = useState(false);
  const messages = useApi<Messages>('/messages', { cursor: view.get('cursor'), limit: PAGE });
  const write = can('operator') && sendsMail && programs.length > 0 && (
    <Button onClick={() => setOpen(true)}>Write a message</Button>
  );
  return (
    <>
      <Group justify="space-between" mb="md" align="flex-start">
        <Note>
          {sendsMail
            ? 'Plain mails to referrers, in your name. Each has a link that ends further ones.'
            : 'Messages need a mail server, which the operator of this deployment sets.'}
        </Note>
        {write}
      </Group>
      <ListTab
        query={messages}
        items={({ messages }) => messages}
        table={TABLE}
        paged="messages"
        empty={
          <EmptyState title="No messages yet">
            Tell referrers of new material, a sale, or better terms for their group.
          </EmptyState>
        }
        row={(message) => <Row key={message.id} message={message} />}
      />
      {isOpen && <MessageDialog programs={programs} close={() => setOpen(false)} />}
    </>
  );
}

function Row({ message }: { message: Message }) {
  const { subject, text, recipients, pending, delivered, failed, canceled, unsubscribed, created_at } =
    message;
  const [isRead, { toggle }] = useDisclosure(false);
  return (
    <Table.Tr>
      <LongTextCell>
        <Stack gap={4} align="flex-start">
          {subject}
          {isRead && (
            <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
              {text}
            </Text>
          )}
          <Button
            variant="default"
            size="compact-xs"
            aria-expanded={isRead}
            aria-label={`${isRead ? 'Hide' : 'Read'} the message ${subject}`}
            onClick={toggle}
          >
            {isRead ? 'Hide' : 'Read'}
          </Button>
        </Stack>
      </LongTextCell>
      <LongTextCell>
        {plural(recipients, 'referrer', 'referrers')}
        <SmallNote>
          <Target message={message} />
        </SmallNote>
      </LongTextCell>
      <FigureCell>
        {formatExact(delivered)}
        {pending > 0 && <SmallNote>{formatExact(pending)} waiting</SmallNote>}
      </FigureCell>
      <FigureCell>
        {formatExact(failed)}
        {canceled > 0 && <SmallNote>{formatExact(canceled)} not sent</SmallNote>}
      </FigureCell>
      <FigureCell>{formatExact(unsubscribed)}</FigureCell>
      <Table.Td>{formatInstant(created_at)}</Table.Td>
    </Table.Tr>
  );
}

function Target({ message: { program_id, group_id } }: { message: Message }) {
  const group = useGroups().find(({ id }) => id === group_id);
  const program = usePrograms().find(({ id }) => id === program_id);
  if (group_id !== null) return group ? `Group ${group.name}` : 'A deleted group';
  return program_id === null ? 'Chosen one by one' : (program?.name ?? '');
}
