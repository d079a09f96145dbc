import { Button, Table } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatInstant } from '../../formats.ts';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { LongTextCell } from '../../parts/scroll-table.tsx';
import { CouponDialog } from './coupon-dialog.tsx';
import { DeleteCouponButton } from './delete-coupon-button.tsx';
import { NoRows, ProgramFilter, TextFilter, usePrograms } from './filters.tsx';
import { OneReferrer } from './one-referrer.tsx';
import { PromotionState } from './promotion-state.tsx';
import { earnerOf, ReferrerCell } from './referrer-cell.tsx';
import type { Coupon, Coupons } from './responses.ts';
import { useViewState } from './view-state.ts';

const PAGE = 50;
/** Refresh interval while a promotion code is being made. Milliseconds. */
const REFRESH = 3_000;

/** Parameters of the URL that the filter bar sets. */
const FILTERS = ['program'];
const TABLE = {
  label: 'Coupons',
  minWidth: 760,
  columns: ['Code', 'Referrer', 'Program', 'Promotion code', 'Created', ''],
};

/** Discount codes of referrers. */
export function CouponsTab() {
  const view = useViewState();
  const { can } = useSession();
  const [isOpen, setOpen] = useState(false);
  const coupons = useApi<Coupons>(
    '/coupons',
    {
      code: view.get('code'),
      program_id: view.get('program'),
      partner_id: view.get('by'),
      cursor: view.get('cursor'),
      limit: PAGE,
    },
    { every: (data) => (data?.coupons.some(isBeingMade) ? REFRESH : false) },
  );
  return (
    <>
      <FilterBar
        label="Filters of coupons"
        names={FILTERS}
        search={<TextFilter name="code" label="Code" placeholder="Exact code" />}
        actions={
          <>
            <OneReferrer />
            {can('operator') && (
              <Button size="xs" onClick={() => setOpen(true)}>
                Add a coupon
              </Button>
            )}
          </>
        }
      >
        <ProgramFilter />
      </FilterBar>
      <ListTab
        query={coupons}
        items={({ coupons }) => coupons}
        table={TABLE}
        paged="coupons"
        empty={
          <NoRows what="coupons" names={[...FILTERS, 'code', 'by']}>
            An order with a referrer's code belongs to that referrer, without a click or a signup.
          </NoRows>
        }
        row={(coupon) => <Row key={coupon.id} coupon={coupon} />}
      />
      {isOpen && <CouponDialog user={null} close={() => setOpen(false)} />}
    </>
  );
}

const isBeingMade = ({ promotion_code: made }: Coupon) => made?.status === 'pending';

function Row({ coupon }: { coupon: Coupon }) {
  const program = usePrograms().find(({ id }) => id === coupon.program_id);
  return (
    <Table.Tr>
      <LongTextCell>{coupon.code}</LongTextCell>
      <ReferrerCell referrer={earnerOf(coupon)} />
      <LongTextCell>{program?.name}</LongTextCell>
      <Table.Td>
        <PromotionState coupon={coupon} />
      </Table.Td>
      <Table.Td>{formatInstant(coupon.created_at)}</Table.Td>
      <Table.Td>
        <DeleteCouponButton coupon={coupon} />
      </Table.Td>
    </Table.Tr>
  );
}
