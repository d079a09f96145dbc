import { Button, Checkbox, Code, Table } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import { formatAgo, formatDate, formatInstant } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { Note, SmallNote } from '../../parts/note.tsx';
import { useCursor } from '../../parts/older-rows.tsx';
import { Section } from '../../parts/section.tsx';
import { KeyDialog } from './key-dialog.tsx';
import { type Key, type Keys, KIND_NAMES, MAKER_NAMES, SCOPE_NAMES } from './responses.ts';

const PAGE_SIZE = 25;

const TABLE = {
  label: 'Keys of the workspace',
  minWidth: 860,
  columns: ['Name', 'Kind', 'Begins with', 'Created', 'Expires', 'Last used', ''],
};

/** The keys of the workspace, for owners. */
export function KeyList() {
  const keys = useApi<Keys>('/keys', { limit: PAGE_SIZE, cursor: useCursor() });
  const [making, { open, close }] = useDisclosure(false);
  return (
    <Section
      title="Keys"
      about="Every API request carries a key. A key is shown once, when it is created."
      action={<Button onClick={open}>New key</Button>}
    >
      <ListTab
        query={keys}
        items={({ keys }) => keys}
        table={TABLE}
        paged="keys"
        empty={
          <EmptyState title="No keys yet">
            Create a secret key for your server, or a publishable key for your website.
          </EmptyState>
        }
        row={(key) => <Row key={key.id} entry={key} />}
      />
      {making && <KeyDialog close={close} />}
    </Section>
  );
}

function Row({ entry: key }: { entry: Key }) {
  const [descendants, setDescendants] = useState(false);
  const revoke = useSend<void>(
    () => ({ path: `/keys/${key.id}${descendants ? '?descendants=true' : ''}`, method: 'DELETE' }),
    {
      refresh: ['/keys', '/members'],
      done: 'The key was revoked',
    },
  );
  const name = key.label || 'Unnamed';
  return (
    <Table.Tr>
      <Table.Td maw={240} style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Table.Td>
      <Table.Td>
        {KIND_NAMES[key.kind]}
        <SmallNote>{rightsOf(key)}</SmallNote>
      </Table.Td>
      <Table.Td>
        <Code>{key.prefix}</Code>
      </Table.Td>
      <Table.Td title={formatInstant(key.created_at)}>
        {formatDate(key.created_at)}
        <SmallNote>{MAKER_NAMES[key.created_by.type]}</SmallNote>
      </Table.Td>
      <Table.Td title={key.expires_at ? formatInstant(key.expires_at) : undefined}>
        {key.expires_at ? formatDate(key.expires_at) : 'No expiry'}
      </Table.Td>
      <Table.Td title={key.last_used_at ? formatInstant(key.last_used_at) : undefined}>
        {key.last_used_at ? formatAgo(key.last_used_at) : 'Never'}
      </Table.Td>
      <Table.Td>
        {key.revoked_at ? (
          <Note title={formatInstant(key.revoked_at)}>Revoked {formatAgo(key.revoked_at)}</Note>
        ) : (
          <ConfirmButton
            size="xs"
            aria-label={`Revoke ${name}, ${key.prefix}`}
            question="Revoke this key?"
            consequence={
              <>
                <span style={{ overflowWrap: 'anywhere' }}>
                  {name}: whatever uses the key that begins with {key.prefix} is refused from then on. This
                  can’t be taken back.
                </span>
                {key.kind === 'secret' && (
                  <Checkbox
                    mt="sm"
                    label="Also revoke what it made"
                    description="The keys that it created and the members that it invited, and what those made. You stay."
                    checked={descendants}
                    onChange={(event) => setDescendants(event.currentTarget.checked)}
                  />
                )}
              </>
            }
            yes="Revoke"
            pending={revoke.isPending}
            onConfirm={() => revoke.mutateAsync()}
          >
            Revoke
          </ConfirmButton>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

/** What the key may do besides its kind; empty: nothing more, nothing less. */
function rightsOf({ kind, scopes, manage }: Key): string {
  const limits = scopes.filter((scope) => scope !== kind).map((scope) => SCOPE_NAMES[scope]);
  return [...(limits.length > 0 ? [`Only ${limits.join(', ')}`] : []), ...(manage ? ['Manages'] : [])].join(
    '; ',
  );
}
