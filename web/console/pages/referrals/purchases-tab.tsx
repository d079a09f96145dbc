import { Button, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatInstant, formatMoney } from '../../formats.ts';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { FigureCell, LongTextCell } from '../../parts/scroll-table.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { TextPress } from '../../parts/text-press.tsx';
import { AssignDialog } from '../connections/assign-dialog.tsx';
import { reasonOf } from '../connections/words.ts';
import { ChoiceFilter, NoRows, ProgramFilter, TextFilter } from './filters.tsx';
import { OneReferrer } from './one-referrer.tsx';
import { ReferrerCell, referrerOf } from './referrer-cell.tsx';
import type { Purchase, Purchases } from './responses.ts';
import { useViewState } from './view-state.ts';
import { purchaseReason } from './words.ts';

const PAGE = 50;

/** Parameters of the URL that the filter bar sets. */
const FILTERS = ['program', 'result'];
const TABLE = {
  label: 'Purchases',
  minWidth: 800,
  columns: ['Time', 'Order', 'Buyer', 'Referred by', { figure: 'Amount' }, 'Result'],
};

/** Purchases of referred users, and why some earned nothing. */
export function PurchasesTab() {
  const view = useViewState();
  const purchases = useApi<Purchases>('/purchases', {
    ...resultFilter(view.get('result')),
    order_id: view.get('order'),
    program_id: view.get('program'),
    partner_id: view.get('by'),
    cursor: view.get('cursor'),
    limit: PAGE,
  });
  return (
    <>
      <FilterBar
        label="Filters of purchases"
        names={FILTERS}
        search={<TextFilter name="order" label="Order" placeholder="Exact ID" />}
        actions={<OneReferrer />}
      >
        <ProgramFilter />
        <ChoiceFilter
          name="result"
          label="Result"
          choices={[
            { value: 'earned', label: 'Rewarded' },
            { value: 'nothing', label: 'Not rewarded' },
            { value: 'no-rate', label: 'No exchange rate' },
            { value: 'unmatched', label: 'No referrer' },
          ]}
        />
      </FilterBar>
      <ListTab
        query={purchases}
        items={({ purchases }) => purchases}
        table={TABLE}
        paged="purchases"
        empty={
          <NoRows what="purchases" names={[...FILTERS, 'order', 'by']}>
            Your server reports purchases. Those of users without a referrer are under the result “No
            referrer”.
          </NoRows>
        }
        row={(purchase) => <Row key={purchase.internal_order_id} purchase={purchase} />}
      />
    </>
  );
}

/** The API's filters for a choice of the `Result` filter. */
function resultFilter(result: string | null) {
  if (result === 'unmatched') return { matched: false };
  if (result === 'no-rate') return { reason: 'no_currency_rate' };
  return { matched: true, rewarded: result === null ? null : result === 'earned' };
}

function Row({ purchase }: { purchase: Purchase }) {
  const view = useViewState();
  return (
    <Table.Tr>
      <Table.Td>{formatInstant(purchase.purchased_at)}</Table.Td>
      <LongTextCell>
        <TextPress onClick={() => view.show('ledger', { order: purchase.order_id })} title="Ledger entries">
          {purchase.order_id}
        </TextPress>
        {purchase.is_renewal && <SmallNote>Renewal</SmallNote>}
        {purchase.coupon !== null && <SmallNote>Coupon {purchase.coupon}</SmallNote>}
      </LongTextCell>
      <LongTextCell>{purchase.external_user_id ?? 'Unknown'}</LongTextCell>
      {purchase.partner_id === null ? (
        <Table.Td />
      ) : (
        <ReferrerCell referrer={{ ...referrerOf(purchase), partner_id: purchase.partner_id }} />
      )}
      <FigureCell>
        {formatMoney(purchase.amount, purchase.currency)}
        {purchase.refunded > 0 && (
          <SmallNote>{formatMoney(purchase.refunded, purchase.currency)} refunded</SmallNote>
        )}
      </FigureCell>
      <Table.Td>
        {purchase.rewarded && purchase.refunded >= purchase.amount ? (
          <StatusBadge sign="paused">Refunded</StatusBadge>
        ) : purchase.rewarded ? (
          <StatusBadge sign="good">Earned</StatusBadge>
        ) : purchase.held ? (
          <StatusBadge sign="waiting">Waiting for a review</StatusBadge>
        ) : purchase.partner_id === null ? (
          <WithoutReferrer purchase={purchase} />
        ) : (
          <>
            <StatusBadge sign="bad">Not rewarded</StatusBadge>
            {purchase.reason !== null && <Text size="sm">{purchaseReason(purchase.reason)}</Text>}
          </>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

/** Why no referrer is known, and a button that assigns the purchase to one. */
function WithoutReferrer({ purchase: { order_id, provider_event: event } }: { purchase: Purchase }) {
  const { can } = useSession();
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <StatusBadge sign="paused">No referrer</StatusBadge>
      {event !== null && (
        <>
          <SmallNote>{reasonOf(event.reason)}</SmallNote>
          <SmallNote>{[event.customer, event.subscription].filter(Boolean).join(' ')}</SmallNote>
          {can('operator') && (
            <Button
              size="compact-xs"
              mt="xs"
              variant="default"
              aria-label={`Assign ${order_id}`}
              onClick={open}
            >
              Assign
            </Button>
          )}
          {opened && (
            <AssignDialog
              connectionId={event.connection_id}
              eventId={event.event_id}
              orderId={order_id}
              close={close}
            />
          )}
        </>
      )}
    </>
  );
}
