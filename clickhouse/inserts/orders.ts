import { lowCardinalityColumn } from './low-cardinality-columns.ts';
import {
  boolColumn,
  int64Column,
  NO_UUID,
  nativeBlock,
  textColumn,
  timeColumn,
  uint64Column,
  uuidColumn,
  uuidsColumn,
} from './native-columns.ts';

/** A row of `orders`. */
export type OrderRow = {
  workspaceId: Uint8Array;
  orderId: string;
  version: number;
  /** Microseconds. */
  ts: number;
  ordinal: number;
  visitorId: Uint8Array | null;
  /** Reported together with `visitorId`; left out: none. */
  otherVisitorIds?: readonly Uint8Array[];
  email: string | null;
  externalUserId: string | null;
  amountMinor: number;
  currency: string;
  /** Left out: no. */
  imported?: boolean;
};

/** Returns the rows as one block of table `orders`. An order without a visitor has the zero UUID. */
export function orderBlock(rows: readonly OrderRow[]): Uint8Array[] {
  const size = rows.length;
  const workspace = uuidColumn('workspace_id', size);
  const order = textColumn('order_id', size);
  const version = uint64Column('version', size);
  const ts = timeColumn('ts', size);
  const visitor = uuidColumn('visitor_id', size);
  const others = uuidsColumn('other_visitor_ids', size);
  const email = textColumn('email', size);
  const user = textColumn('external_user_id', size);
  const amount = int64Column('amount_minor', size);
  const currency = lowCardinalityColumn('currency', size);
  const imported = boolColumn('imported', size);
  rows.forEach((given, row) => {
    workspace.put(row, given.workspaceId);
    order.put(row, given.orderId);
    version.put(row, BigInt(given.version));
    ts.put(row, given.ts, given.ordinal);
    visitor.put(row, given.visitorId ?? NO_UUID);
    others.put(row, given.otherVisitorIds ?? []);
    email.put(row, given.email ?? '');
    user.put(row, given.externalUserId ?? '');
    amount.put(row, BigInt(given.amountMinor));
    currency.put(row, given.currency);
    imported.put(row, given.imported ?? false);
  });
  return nativeBlock(
    [workspace, order, version, ts, visitor, others, email, user, amount, currency, imported],
    size,
  );
}
