import { Table, Text } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { formatAgo, formatInstant, plural } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { useCursor } from '../../parts/older-rows.tsx';
import { Section } from '../../parts/section.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';

type Log = ResponseOf<'/mails'>;
type Mail = Log['mails'][number];

const PAGE_SIZE = 50;
/** Refresh interval. Milliseconds. */
const REFRESH = 10_000;

const KINDS: Record<Mail['kind'], string> = {
  invitation: 'Invitation',
  password_reset: 'Password reset',
  sign_in: 'Sign-in from a new browser',
  account_change: 'Change of a sign-in',
  key_change: 'Change of a key',
  payout_address_change: 'Change of a payout address',
  confirmation: 'Confirmation of an address',
  report: 'Report',
  alert: 'Alert',
  application: 'Application to a program',
  portal_sign_in: 'Sign-in to the portal',
  affiliate_notice: 'Notice to an affiliate',
  message: 'Message to a referrer',
  problem: 'Problems',
};

const STATES: Record<Mail['status'], { sign: 'good' | 'waiting' | 'bad' | 'paused'; label: string }> = {
  delivered: { sign: 'good', label: 'Sent' },
  pending: { sign: 'waiting', label: 'Waits' },
  failed: { sign: 'bad', label: 'Failed' },
  canceled: { sign: 'paused', label: 'Not sent' },
};

const TABLE = {
  label: 'Mails of the last 30 days',
  minWidth: 640,
  columns: ['When', 'To', 'About', 'State'],
};

/** Mails of the workspace, and what the mail server said. Owners only. */
export function MailLog() {
  const log = useApi<Log>('/mails', { limit: PAGE_SIZE, cursor: useCursor() }, { every: REFRESH });
  return (
    <Section
      title="Mail"
      about="What was mailed about this workspace in the last 30 days. A mail is tried for a day."
    >
      <ListTab
        query={log}
        items={({ mails }) => mails}
        table={TABLE}
        paged="mails"
        empty={
          <EmptyState title="No mail yet">Invitations and notices appear here as they are sent.</EmptyState>
        }
        row={(mail) => <MailRow key={mail.id} mail={mail} />}
      />
    </Section>
  );
}

function MailRow({ mail }: { mail: Mail }) {
  const { recipient, kind, status, attempts, error, created_at, next_attempt_at: next } = mail;
  const { sign, label } = STATES[status];
  return (
    <Table.Tr>
      <Table.Td title={formatInstant(created_at)}>{formatAgo(created_at)}</Table.Td>
      <Table.Td maw={240} style={{ overflowWrap: 'anywhere' }}>
        {recipient}
      </Table.Td>
      <Table.Td>{KINDS[kind]}</Table.Td>
      <Table.Td maw={320} style={{ overflowWrap: 'anywhere' }}>
        <StatusBadge sign={error !== null && status === 'pending' ? 'bad' : sign}>{label}</StatusBadge>
        {error !== null && (
          <Text size="sm" mt={4}>
            {error}
          </Text>
        )}
        {next !== null && attempts > 0 && (
          <SmallNote>
            {plural(attempts, 'attempt', 'attempts')}, the next at {formatInstant(next)}
          </SmallNote>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
