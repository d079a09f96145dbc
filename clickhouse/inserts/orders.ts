import type { OrderEvent } from '../../core/events/types.ts';
import {
  int64Column,
  lowCardinalityColumn,
  NO_UUID,
  nativeBlock,
  textColumn,
  timeColumn,
  uint64Column,
  uuidColumn,
} from './native-columns.ts';

/** A report of an order to be inserted. */
export type OrderRow = {
  event: OrderEvent;
  /** See `core/events/order-version.ts`. */
  version: bigint;
  ordinal: number;
  sequence: bigint;
};

/** Returns the rows as one block of table `orders`. An order without a visitor has the zero UUID. */
export function orderBlock(rows: readonly OrderRow[]): Uint8Array[] {
  const size = rows.length;
  const workspace = uuidColumn('workspace_id', size);
  const order = textColumn('order_id', size);
  const version = uint64Column('version', size);
  const ts = timeColumn('ts', size);
  const visitor = uuidColumn('visitor_id', size);
  const email = textColumn('email', size);
  const user = textColumn('external_user_id', size);
  const amount = int64Column('amount_minor', size);
  const currency = lowCardinalityColumn('currency', size);
  const sequence = uint64Column('sequence', size);
  let row = 0;
  for (const { event, version: rank, ordinal, sequence: number } of rows) {
    workspace.put(row, event.workspaceId);
    order.put(row, event.orderId);
    version.put(row, rank);
    ts.put(row, event.ts, ordinal);
    visitor.put(row, event.visitorId ?? NO_UUID);
    email.put(row, event.email ?? '');
    user.put(row, event.externalUserId ?? '');
    amount.put(row, BigInt(event.amountMinor));
    currency.put(row, event.currency);
    sequence.put(row, number);
    row += 1;
  }
  const columns = [workspace, order, version, ts, visitor, email, user, amount, currency, sequence];
  return nativeBlock(columns, size);
}
