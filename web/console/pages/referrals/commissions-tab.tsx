import { Anchor, Button, Group, Modal, Stack, Table, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { formatInstant, formatMoney } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { OlderRows } from '../../parts/older-rows.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { LongTextCell, ScrollTable } from '../../parts/scroll-table.tsx';
import { ChoiceFilter, ProgramFilter } from './filters.tsx';
import { OneReferrer } from './one-referrer.tsx';
import type { Commission, Commissions } from './responses.ts';
import { useViewState } from './view-state.ts';
import { statusName } from './words.ts';

const PAGE = 50;
const STATUSES = ['pending', 'eligible', 'paid', 'reversed', 'rejected'];

/** Commissions; one that is not paid can be rejected. */
export function CommissionsTab() {
  const view = useViewState();
  const commissions = useApi<Commissions>('/commissions', {
    program_id: view.get('program'),
    partner_id: view.get('by'),
    status: view.get('status'),
    cursor: view.get('cursor'),
    limit: PAGE,
  });
  return (
    <>
      <Group gap="sm" align="flex-end" mb="md">
        <ProgramFilter />
        <ChoiceFilter
          name="status"
          label="Status"
          choices={STATUSES.map((value) => ({ value, label: statusName(value) }))}
        />
        <OneReferrer />
      </Group>
      <QueryView
        query={commissions}
        empty={{
          when: (data) => data.commissions.length === 0,
          show: (
            <EmptyState title="No commissions">
              A commission is added when a purchase earns one, or by hand at a referrer.
            </EmptyState>
          ),
        }}
      >
        {(data) => (
          <>
            <ScrollTable
              label="Commissions"
              minWidth={760}
              columns={['Created', 'Referrer', 'For', 'Amount', 'Status']}
            >
              <Table.Tbody>
                {data.commissions.map((commission) => (
                  <Row key={commission.id} commission={commission} />
                ))}
              </Table.Tbody>
            </ScrollTable>
            <OlderRows next={data.next_cursor} what="commissions" />
          </>
        )}
      </QueryView>
    </>
  );
}

function Row({ commission }: { commission: Commission }) {
  const view = useViewState();
  const { amount, remaining, currency, status } = commission;
  return (
    <Table.Tr>
      <Table.Td>{formatInstant(commission.created_at)}</Table.Td>
      <LongTextCell>
        <Anchor
          component="button"
          size="sm"
          ta="left"
          onClick={() => view.show('enrollments', { partner: commission.partner_id })}
        >
          {commission.external_user_id}
        </Anchor>
      </LongTextCell>
      <LongTextCell>
        {commission.kind === 'manual' ? (
          <>
            {amount < 0 ? 'Claw-back' : 'Bonus'}
            <Text size="xs" c="dimmed">
              {commission.note}
            </Text>
          </>
        ) : (
          <>
            {commission.kind === 'refund' ? 'Refund of order ' : 'Order '}
            {commission.order_id}
          </>
        )}
      </LongTextCell>
      <Table.Td className="figure">
        {formatMoney(amount, currency)}
        {remaining !== amount && status !== 'reversed' && (
          <Text size="xs" c="dimmed">
            {formatMoney(remaining, currency)} left
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Group gap="xs">
          {statusName(status)}
          {(status === 'pending' || status === 'eligible') && <RejectButton commission={commission} />}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function RejectButton({ commission }: { commission: Commission }) {
  const { can } = useSession();
  const [opened, setOpened] = useState(false);
  const [reason, setReason] = useState('');
  const reject = useSend<string>(
    (text) => ({ path: `/commissions/${commission.id}/reject`, body: { reason: text } }),
    {
      refresh: ['/commissions', '/ledger', '/enrollments', '/payouts'],
      done: 'Commission rejected',
      tellFailure: false,
    },
  );
  if (!can('operator')) return null;
  const amount = formatMoney(commission.remaining, commission.currency);
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Reject ${amount} of ${commission.external_user_id}`}
        onClick={() => setOpened(true)}
      >
        Reject
      </Button>
      <Modal
        opened={opened}
        onClose={() => setOpened(false)}
        title={`Reject the commission of ${amount}?`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            reject.mutate(reason, { onSuccess: () => setOpened(false) });
          }}
        >
          <Stack gap="sm">
            <Text size="sm">
              {commission.external_user_id} does not get it. This can't be undone; a bonus can replace it.
            </Text>
            <Textarea
              label="Reason"
              required
              data-autofocus
              maxLength={500}
              value={reason}
              error={reject.isError && sentenceOf(reject.error)}
              onChange={(event) => setReason(event.currentTarget.value)}
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setOpened(false)}>
                Cancel
              </Button>
              <Button type="submit" color="red.8" loading={reject.isPending}>
                Reject
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
