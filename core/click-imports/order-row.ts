import { AMOUNT_LIMIT, isCurrency, MoneyError, toMinor } from '../money/money.ts';
import { isEmail, normalizeEmail } from '../tracking/emails.ts';
import type { LinkName } from './click-row.ts';
import type { FileFormat } from './formats/format.ts';
import type { ImportRow } from './import-row.ts';
import { linkById, linkBySlug, linkByUrl, timeOf } from './values.ts';

/** An order of another service. */
export type OrderRow = {
  /** Microseconds since the epoch. */
  ts: number;
  orderId: string;
  amountMinor: number;
  /** ISO 4217 code in lower case. */
  currency: string;
  /** The source's name of the visitor, as in rows of clicks; empty: unknown. */
  visitor: string;
  /** Normalized by `normalizeEmail`; null: unknown. */
  email: string | null;
  /** Null: the row names none. */
  link: LinkName | null;
};

/** A file of orders, in Hoplog's own columns (docs/click-history.md). */
export const ORDER_FILE: FileFormat = {
  name: 'orders',
  needs: [['ts'], ['orderid'], ['amount']],
  hint: 'it has no columns `ts`, `order_id`, and `amount`',
};

const ID_LIMIT = 200;
const DECIMAL = /^\d{1,15}(?:\.\d{1,15})?$/;

/**
 * Reads a row of a file of orders.
 *
 * @param standard currency of rows that name none
 * @throws {RowProblem}
 */
export function readOrder(row: ImportRow, standard: string): OrderRow {
  const orderId = row.text('orderid');
  if (orderId === '' || orderId.length > ID_LIMIT) {
    throw row.wrong(`must be the id of the order, 1 to ${ID_LIMIT} characters`, 'orderid');
  }
  const email = row.text('email');
  if (email !== '' && !isEmail(email)) throw row.wrong('must be an email address', 'email');
  const order: OrderRow = {
    ts: timeOf(row, 'ts'),
    orderId,
    ...moneyOf(row, standard),
    visitor: row.text('visitor', 'visitorid'),
    email: email === '' ? null : normalizeEmail(email),
    link:
      linkById(row, 'linkid') ??
      linkByUrl(row.text('shorturl')) ??
      linkBySlug(row.text('slug'), row.text('domain')),
  };
  if (order.visitor === '' && order.email === null && order.link === null) {
    throw row.wrong(
      'is required, or `email`, `link_id`, or `slug` instead: it names the buyer, or the link that led there',
      'visitor',
    );
  }
  return order;
}

function moneyOf(row: ImportRow, standard: string): Pick<OrderRow, 'amountMinor' | 'currency'> {
  const currency = (row.text('currency') || standard).toLowerCase();
  if (!isCurrency(currency)) throw row.wrong('must be an ISO 4217 code such as usd', 'currency');
  const text = row.text('amount');
  if (!DECIMAL.test(text)) throw row.wrong('must be an amount such as 19.99', 'amount');
  const wrong = row.wrong(`must be an amount of ${currency}`, 'amount');
  try {
    const amountMinor = toMinor(Number(text), currency);
    if (amountMinor > AMOUNT_LIMIT) throw wrong;
    return { amountMinor, currency };
  } catch (error) {
    throw error instanceof MoneyError ? wrong : error;
  }
}
