import { Button, NativeSelect, Table } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useApi, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { type Role, useSession } from '../../api/session.ts';
import { formatAgo, formatDate, formatInstant } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { Note } from '../../parts/note.tsx';
import { LongTextCell } from '../../parts/scroll-table.tsx';
import { Section } from '../../parts/section.tsx';
import { ROLE_MEANINGS, ROLE_NAMES } from '../sign-in/roles.ts';
import { InviteDialog } from './invite-dialog.tsx';

type Member = ResponseOf<'/members'>['members'][number];

const nameOf = ({ email }: Member) => email ?? 'Member without an email';

/** Members. Owners invite, change roles and remove members. */
export function Members() {
  const { can } = useSession();
  const members = useApi<ResponseOf<'/members'>>('/members');
  const [inviting, { open, close }] = useDisclosure(false);
  const isOwner = can('owner');
  const table = {
    label: 'Members and their roles',
    minWidth: isOwner ? 640 : 480,
    columns: ['Email', 'Role', 'Last seen', 'Member since', isOwner && 'Change'],
  };
  return (
    <Section
      title="Members"
      about={
        isOwner
          ? 'People with access to the console of this workspace.'
          : 'People with access to the console of this workspace. Owners manage this list.'
      }
      action={isOwner && <Button onClick={open}>Invite</Button>}
    >
      <ListTab
        query={members}
        items={(data) => data.members}
        table={table}
        empty={null}
        row={(member) => <MemberRow key={member.id} member={member} editable={isOwner} />}
      />
      <Note mt="sm">
        {(['analyst', 'operator', 'owner'] as const)
          .map((role) => `${ROLE_NAMES[role]}: ${ROLE_MEANINGS[role]}.`)
          .join(' ')}
      </Note>
      {inviting && <InviteDialog close={close} />}
    </Section>
  );
}

function MemberRow({ member, editable }: { member: Member; editable: boolean }) {
  const self = useSession().member;
  const isSelf = member.id === self.id;
  const refresh = ['/members', '/session'];
  const change = useSend<Role>(
    (role) => ({ path: `/members/${member.id}`, method: 'PATCH', body: { role } }),
    {
      refresh,
      done: (_, role) => `${nameOf(member)} is now ${ROLE_NAMES[role].toLowerCase()}`,
    },
  );
  const remove = useSend<void>(() => ({ path: `/members/${member.id}`, method: 'DELETE' }), {
    refresh,
    done: `${nameOf(member)} was removed`,
  });
  const unlink = useSend<void>(() => ({ path: `/members/${member.id}/provider-link`, method: 'DELETE' }), {
    refresh: ['/members'],
    done: `${nameOf(member)} is no longer tied to the identity provider`,
  });
  return (
    <Table.Tr>
      <LongTextCell maw={320}>
        {nameOf(member)}
        {isSelf && ' (you)'}
      </LongTextCell>
      <Table.Td>
        {editable && !isSelf ? (
          <NativeSelect
            size="xs"
            miw={110}
            aria-label={`Role of ${nameOf(member)}`}
            data={Object.entries(ROLE_NAMES).map(([value, label]) => ({ value, label }))}
            value={change.isPending ? change.variables : member.role}
            disabled={change.isPending}
            onChange={(event) => change.mutate(event.currentTarget.value as Role)}
          />
        ) : (
          ROLE_NAMES[member.role]
        )}
      </Table.Td>
      <Table.Td title={member.last_seen_at ? formatInstant(member.last_seen_at) : undefined}>
        {member.last_seen_at ? formatAgo(member.last_seen_at) : 'never'}
      </Table.Td>
      <Table.Td>{formatDate(member.created_at)}</Table.Td>
      {editable && (
        <Table.Td>
          {member.provider_linked && (
            <ConfirmButton
              size="xs"
              mr="xs"
              variant="default"
              aria-label={`Unlink ${nameOf(member)} from the identity provider`}
              question={`Unlink ${nameOf(member)} from the identity provider?`}
              consequence="For a member whose account at the provider was made again. The next sign-in there with this verified email makes a new tie. Sessions stay."
              yes="Unlink"
              pending={unlink.isPending}
              onConfirm={() => unlink.mutateAsync()}
            >
              Unlink
            </ConfirmButton>
          )}
          {!isSelf && (
            <ConfirmButton
              size="xs"
              aria-label={`Remove ${nameOf(member)}`}
              question={`Remove ${nameOf(member)}?`}
              consequence="They are signed out everywhere at once and can no longer sign in. An open live list ends within 15 seconds. Their work stays."
              yes="Remove"
              pending={remove.isPending}
              onConfirm={() => remove.mutateAsync()}
            >
              Remove
            </ConfirmButton>
          )}
        </Table.Td>
      )}
    </Table.Tr>
  );
}
