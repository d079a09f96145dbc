import { Button, Checkbox, Group, Stack, Table, Text, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { methodName } from '../../../../core/referrals/payout-method-names.ts';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatCount, formatMoney, plural } from '../../formats.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { FigureCell, ScrollTable } from '../../parts/scroll-table.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { ReferrerCell, referrerName } from './referrer-cell.tsx';
import type { Paid, PayoutLine, PayoutLines as PayoutLinesResponse } from './responses.ts';
import { totalsText } from './words.ts';

const LINES = 100;
const MOST_LINES = 500;
const REFRESH = ['/referrals', '/payouts', '/ledger', '/enrollments', '/commissions'];

/** The lines of a payout file: pays some of them, and marks one failed whose payment came back. */
export function PayoutLines({
  exportId,
  canceled,
  close,
}: {
  exportId: string;
  canceled: boolean;
  close: () => void;
}) {
  const {
    can,
    workspace: { currency },
  } = useSession();
  const [limit, setLimit] = useState(LINES);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const lines = useApi<PayoutLinesResponse>(`/payouts/${exportId}/lines`, { limit });
  const pay = useSend<string[], Paid>(
    (partner_ids) => ({ path: '/payouts', body: { export_id: exportId, partner_ids } }),
    {
      refresh: REFRESH,
      done: ({ paid, totals }) =>
        `Marked paid: ${plural(paid, 'line', 'lines')}, ${totalsText(totals, currency)}`,
    },
  );
  const editable = can('operator') && !canceled;
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <Dialog title="Payout lines" close={close} size="xl">
      <QueryView
        query={lines}
        empty={{ when: (data) => data.lines.length === 0, show: <Text size="sm">No lines.</Text> }}
      >
        {(data) => (
          <Stack gap="sm">
            <ScrollTable
              label="Lines of the payout file"
              minWidth={640}
              columns={[
                editable && 'Pay',
                'Referrer',
                'Payout method',
                { figure: 'Commissions' },
                { figure: 'Amount' },
                'Status',
              ]}
            >
              <Table.Tbody>
                {data.lines.map((line) => (
                  <Table.Tr key={line.partner_id}>
                    {editable && (
                      <Table.Td>
                        {line.status === 'open' && (
                          <Checkbox
                            aria-label={`Pay ${referrerName(line)}`}
                            checked={chosen.has(line.partner_id)}
                            onChange={(event) => choose(line.partner_id, event.currentTarget.checked)}
                          />
                        )}
                      </Table.Td>
                    )}
                    <ReferrerCell referrer={line} />
                    <Table.Td>
                      {methodName(line.method)}
                      <SmallNote>{line.payout_method?.email ?? 'Deleted'}</SmallNote>
                    </Table.Td>
                    <FigureCell>{formatCount(line.commissions)}</FigureCell>
                    <FigureCell>
                      {formatMoney(line.amount, line.currency)}
                      {line.paid_amount !== null && line.paid_amount !== line.amount && (
                        <SmallNote>Paid {formatMoney(line.paid_amount, line.currency)}</SmallNote>
                      )}
                    </FigureCell>
                    <Table.Td>
                      <LineStatus line={line} exportId={exportId} editable={editable} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </ScrollTable>
            {editable && chosen.size > 0 && (
              <Group>
                <Button
                  size="xs"
                  loading={pay.isPending}
                  onClick={() => pay.mutate([...chosen], { onSuccess: () => setChosen(new Set()) })}
                >
                  Mark {plural(chosen.size, 'line', 'lines')} as paid
                </Button>
              </Group>
            )}
            {data.next_cursor !== null && limit < MOST_LINES && (
              <Button variant="default" size="xs" onClick={() => setLimit(MOST_LINES)}>
                Show more
              </Button>
            )}
            {data.next_cursor !== null && limit === MOST_LINES && (
              <Text size="sm">The file has more lines.</Text>
            )}
          </Stack>
        )}
      </QueryView>
    </Dialog>
  );
}

function LineStatus({ line, exportId, editable }: { line: PayoutLine; exportId: string; editable: boolean }) {
  if (line.status === 'open') return <StatusBadge sign="waiting">Open</StatusBadge>;
  if (line.status === 'failed') {
    return (
      <>
        <StatusBadge sign="bad">Failed</StatusBadge>
        <SmallNote>{line.fail_reason}</SmallNote>
        {line.retried_at !== null ? (
          <SmallNote>Later files pay it again.</SmallNote>
        ) : (
          editable && <RetryButton line={line} exportId={exportId} />
        )}
      </>
    );
  }
  return (
    <Group gap="xs">
      <StatusBadge sign="good">Paid</StatusBadge>
      {editable && line.paid_amount !== 0 && <FailButton line={line} exportId={exportId} />}
    </Group>
  );
}

/** Lets later files pay the same address again. */
function RetryButton({ line, exportId }: { line: PayoutLine; exportId: string }) {
  const retry = useSend<void>(
    () => ({ path: `/payouts/${exportId}/lines/${line.partner_id}/retry`, method: 'POST' }),
    { refresh: REFRESH, done: `The next payout file pays ${referrerName(line)} again.` },
  );
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Pay again: ${referrerName(line)}`}
      loading={retry.isPending}
      onClick={() => retry.mutate()}
    >
      Pay again
    </Button>
  );
}

/** Marks a paid line failed: its commissions are ready to pay again, at another address or after a retry. */
function FailButton({ line, exportId }: { line: PayoutLine; exportId: string }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Mark the line of ${referrerName(line)} failed`}
        onClick={open}
      >
        Failed?
      </Button>
      {opened && <FailDialog line={line} exportId={exportId} close={close} />}
    </>
  );
}

function FailDialog({ line, exportId, close }: { line: PayoutLine; exportId: string; close: () => void }) {
  const fail = useSend<{ reason: string }>(
    (body) => ({ path: `/payouts/${exportId}/lines/${line.partner_id}/fail`, body }),
    { refresh: REFRESH, done: 'Marked failed. The amount waits for another address.', tellFailure: false },
  );
  const { draft, text } = useDraft({ reason: '' }, fail.error);
  const amount = formatMoney(line.paid_amount ?? line.amount, line.currency);
  return (
    <FormDialog
      title={`Did the payment of ${amount} come back?`}
      close={close}
      send={fail}
      submit={() => fail.mutate(draft, { onSuccess: close })}
      label="Mark failed"
      isDanger
      failed="Not marked"
      fields={['reason']}
    >
      <Text size="sm">
        The ledger gets entries that reverse the payment. Payout files pay {referrerName(line)} again once the
        address has changed, or when you press Pay again.
      </Text>
      <Textarea
        label="Reason"
        required
        data-autofocus
        maxLength={500}
        {...text('reason', 'reason', 'Reason')}
      />
    </FormDialog>
  );
}
