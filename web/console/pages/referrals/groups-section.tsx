import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatExact, formatMoney, plural } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { LongTextCell } from '../../parts/scroll-table.tsx';
import { Section } from '../../parts/section.tsx';
import { GroupDialog } from './group-dialog.tsx';
import type { PartnerGroup, PartnerGroups, Program } from './responses.ts';
import { useViewState } from './view-state.ts';

/** Groups of referrers with terms of their own. */
export function GroupsSection({ programs }: { programs: readonly Program[] }) {
  const { can } = useSession();
  const [edited, setEdited] = useState<PartnerGroup | 'new' | null>(null);
  const groups = useApi<PartnerGroups>('/partner-groups', { limit: 200 });
  const hasSeveral = programs.length > 1;
  return (
    <Section
      title="Groups"
      about="Referrers with a rate, a hold period, or a minimum payout of their own."
      action={
        can('operator') && (
          <Button size="xs" onClick={() => setEdited('new')}>
            Add a group
          </Button>
        )
      }
    >
      <ListTab
        query={groups}
        items={({ partner_groups }) => partner_groups}
        table={{
          label: 'List of groups',
          isDouble: true,
          minWidth: 640,
          columns: ['Name', 'Terms', 'Referrers', ''],
        }}
        empty={
          <EmptyState title="No groups yet">
            Pay newsletters 30%, or large affiliates sooner. Put referrers into a group with “Edit” of a
            referrer.
          </EmptyState>
        }
        row={(group) => (
          <Table.Tr key={group.id}>
            <LongTextCell>
              {group.name}
              {hasSeveral && (
                <SmallNote>{programs.find(({ id }) => id === group.program_id)?.name}</SmallNote>
              )}
            </LongTextCell>
            <LongTextCell>
              <Stack gap={0}>
                {groupTerms(group).map((term) => (
                  <Text key={term} size="sm">
                    {term}
                  </Text>
                ))}
              </Stack>
            </LongTextCell>
            <Table.Td>
              <Members group={group} />
            </Table.Td>
            <Table.Td>
              {can('operator') && (
                <Group gap="xs" wrap="nowrap" justify="flex-end">
                  <Button
                    variant="default"
                    size="compact-xs"
                    aria-label={`Edit the group ${group.name}`}
                    onClick={() => setEdited(group)}
                  >
                    Edit
                  </Button>
                  <DeleteGroup group={group} />
                </Group>
              )}
            </Table.Td>
          </Table.Tr>
        )}
      />
      {edited && (
        <GroupDialog
          programs={programs}
          group={edited === 'new' ? null : edited}
          close={() => setEdited(null)}
        />
      )}
    </Section>
  );
}

/** The terms that a group has of its own, one sentence each. */
function groupTerms(group: PartnerGroup): string[] {
  const {
    commission_type: type,
    commission_rate: rate,
    hold_days: days,
    min_payout: least,
    currency,
  } = group;
  const terms = [
    rate !== null &&
      `${type === 'flat' ? formatMoney(rate, currency) : `${formatExact(rate)}%`} of each sale`,
    days !== null && (days === 0 ? 'Ready to pay at once' : `On hold for ${plural(days, 'day', 'days')}`),
    least !== null && (least === 0 ? 'Paid from any amount' : `Paid from ${formatMoney(least, currency)}`),
  ].filter((term) => term !== false);
  return terms.length > 0 ? terms : ["The program's terms"];
}

function Members({ group: { id, name, partners } }: { group: PartnerGroup }) {
  const view = useViewState();
  if (partners === 0) return 'None';
  return (
    <Button
      variant="default"
      size="compact-xs"
      aria-label={`${plural(partners, 'referrer', 'referrers')} in the group ${name}`}
      onClick={() => view.show('enrollments', { group: id })}
    >
      {plural(partners, 'referrer', 'referrers')}
    </Button>
  );
}

function DeleteGroup({ group: { id, name } }: { group: PartnerGroup }) {
  const remove = useSend<void>(() => ({ path: `/partner-groups/${id}`, method: 'DELETE' }), {
    refresh: ['/partner-groups', '/enrollments', '/payouts'],
    done: 'Group deleted',
  });
  return (
    <ConfirmButton
      size="compact-xs"
      aria-label={`Delete the group ${name}`}
      question={`Delete the group ${name}?`}
      consequence="Its referrers have the program's terms for future sales. What they earned stays."
      yes="Delete"
      pending={remove.isPending}
      onConfirm={() => remove.mutateAsync()}
    >
      Delete
    </ConfirmButton>
  );
}
