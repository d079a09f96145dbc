import { Code, Table, Text } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { formatAgo, formatInstant } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { useCursor } from '../../parts/older-rows.tsx';
import { Section } from '../../parts/section.tsx';

type Log = ResponseOf<'/audit-log'>;
type Entry = Log['entries'][number];

const PAGE_SIZE = 50;

const ACTORS: Record<Entry['actor']['type'], string> = {
  member: 'Member',
  key: 'Key',
  partner: 'Partner',
  operator: 'Operator of the service',
  provider: 'Identity provider',
  service: 'The service',
};

const TABLE = {
  label: 'Entries of the audit log',
  minWidth: 720,
  columns: ['When', 'Who', 'Action', 'Target', 'Details'],
};

/** Who changed what, and who signed in. Owners only. */
export function AuditLog() {
  const log = useApi<Log>('/audit-log', { limit: PAGE_SIZE, cursor: useCursor() });
  return (
    <Section
      title="Audit log"
      about="Sign-ins, and changes of access, links, pages and referrals. Kept for 13 months."
    >
      <ListTab
        query={log}
        items={({ entries }) => entries}
        table={TABLE}
        paged="audit entries"
        empty={<EmptyState title="No entries yet">Changes appear here as they are made.</EmptyState>}
        row={(entry) => <EntryRow key={entry.id} entry={entry} />}
      />
    </Section>
  );
}

function EntryRow({ entry: { at, actor, action, target, details } }: { entry: Entry }) {
  const shown = Object.entries(details).map(([name, value]) => `${name}: ${String(value)}`);
  return (
    <Table.Tr>
      <Table.Td title={formatInstant(at)}>{formatAgo(at)}</Table.Td>
      <Table.Td maw={240} style={{ overflowWrap: 'anywhere' }} title={actor.id ?? undefined}>
        {/* An identity provider has no id, a billing provider that of its connection. */}
        {actor.type === 'provider' && actor.id !== null ? 'Billing provider' : ACTORS[actor.type]}
        <SmallNote>{actor.name}</SmallNote>
      </Table.Td>
      <Table.Td>
        <Code>{action}</Code>
      </Table.Td>
      <Table.Td title={target.id ?? undefined}>{target.type.replaceAll('_', ' ')}</Table.Td>
      <Table.Td maw={320} style={{ overflowWrap: 'anywhere' }}>
        {shown.length > 0 && <Text size="sm">{shown.join(', ')}</Text>}
      </Table.Td>
    </Table.Tr>
  );
}
