import { decimalAt, shareOf } from '../amounts.ts';
import type { Fact, Part, PaymentFact } from '../connector.ts';
import { type Json, maybeObject, maybeText, objectsIn, textAt } from '../fields.ts';
import { instantAt, maybeInstant } from '../instants.ts';

/**
 * Reads `refunds/create`: one refund, whose successful transactions moved money, in the buyer's currency. One that is
 * pending may fail: `order_transactions/create` tells. Source: "The Refund resource",
 * https://shopify.dev/docs/api/admin-rest/latest/resources/refund
 */
export function refundFacts(refund: Json): Fact[] {
  const at = maybeInstant(refund, 'processed_at') ?? instantAt(refund, 'created_at');
  const order = textAt(refund, 'order_id');
  const transactions = objectsIn(refund.transactions);
  const told = toldOf(refund);
  return transactions.flatMap((transaction) => [
    ...transactionFact(transaction, order, at),
    ...(told ? splitFact(transaction, order, { at, told }) : []),
  ]);
}

/**
 * Reads `order_transactions/create`: a transaction that succeeded or failed, also one that was pending before. Source:
 * "The Transaction resource", https://shopify.dev/docs/api/admin-rest/latest/resources/transaction
 */
export function transactionFacts(transaction: Json): Fact[] {
  const at = maybeInstant(transaction, 'processed_at') ?? instantAt(transaction, 'created_at');
  return transactionFact(transaction, textAt(transaction, 'order_id'), at);
}

/** A transaction that failed does not succeed later, so that it is the newer one of two states of one time. */
function transactionFact(transaction: Json, order: string, at: number): Fact[] {
  const status = maybeText(transaction, 'status');
  if (transaction.kind !== 'refund' || status === 'pending') return [];
  const money = decimalAt(transaction, 'amount', textAt(transaction, 'currency'));
  const is =
    status === 'success' ? { at, refunded: money } : { at, rank: 1, refunded: { ...money, minor: 0 } };
  return [partOf(order, refundedBy(transaction), is)];
}

const refundedBy = (transaction: Json) => `refund:${textAt(transaction, 'id')}`;

const partOf = (order: string, name: string, is: Part): PaymentFact => ({
  kind: 'payment',
  refs: [order],
  customer: null,
  subscription: null,
  part: name,
  is,
});

/** Amounts of a refund by what they are of; minor units of one currency. `paid`: what its transactions move. */
type Told = { goods: number; total: number; paid: number };

/**
 * Returns what a refund is of: its lines, shipping, and duties. Null: it is an amount alone. The store may refund
 * another amount than that of the lines; adjustments tell the difference.
 */
function toldOf(refund: Json): Told | null {
  const transactions = objectsIn(refund.transactions).filter(({ kind }) => kind === 'refund');
  const [transaction] = transactions;
  if (!transaction) return null;
  const currency = textAt(transaction, 'currency');
  const sum = (values: readonly unknown[]) =>
    values.reduce<number>((total, value) => total + minorOf(value, currency), 0);
  const lines = objectsIn(refund.refund_line_items);
  const subtotal = sum(lines.map((line) => shownIn(line, 'subtotal')));
  const tax = sum(lines.map((line) => shownIn(line, 'total_tax')));
  const adjustments = objectsIn(refund.order_adjustments);
  const ofKind = (kind: string) =>
    sum(
      adjustments
        .filter((one) => one.kind === kind)
        .flatMap((one) => [shownIn(one, 'amount'), shownIn(one, 'tax_amount')]),
    );
  const byLines = sum(
    objectsIn(refund.refund_shipping_lines).flatMap((line) => [
      shownIn(line, 'subtotal_amount'),
      shownIn(line, 'tax_amount'),
    ]),
  );
  // Adjustments are negative, and tell of the shipping lines too.
  const shipping = -ofKind('shipping_refund') || byLines;
  const duties = sum(objectsIn(refund.duties).map((duty) => shownIn(duty, 'amount')));
  const rest = shipping + duties;
  if (lines.length === 0 && rest <= 0) return null;
  const paid = sum(transactions.map(({ amount }) => amount));
  // Where prices include taxes, the subtotal does: only the whole amount tells.
  const whole = paid + ofKind('refund_discrepancy');
  const isIncluded = Math.abs(subtotal + rest - whole) < Math.abs(subtotal + tax + rest - whole);
  return isIncluded
    ? { goods: subtotal - tax, total: subtotal + rest, paid }
    : { goods: subtotal, total: subtotal + tax + rest, paid };
}

/** Returns a decimal in the buyer's currency, in which transactions are, where it is told in both. */
function shownIn(from: Json, name: string): unknown {
  return maybeObject(maybeObject(from, `${name}_set`), 'presentment_money')?.amount ?? from[name];
}

/** Decimals are texts, or numbers in older versions. @throws {EventProblem} */
function minorOf(value: unknown, currency: string): number {
  if (value === undefined || value === null) return 0;
  return decimalAt({ amount: String(value) }, 'amount', currency).minor;
}

/** How much of a transaction is goods. It counts once the transaction has succeeded. */
function splitFact(transaction: Json, order: string, { at, told }: { at: number; told: Told }): Fact[] {
  if (transaction.kind !== 'refund') return [];
  const { minor: amount, currency } = decimalAt(transaction, 'amount', textAt(transaction, 'currency'));
  const minor = shareOf(amount, Math.min(told.paid, told.total), told.paid);
  const split = { minor, goods: shareOf(minor, told.goods, told.total), currency };
  const is = { at, split: { ...split, of: refundedBy(transaction) } };
  return [partOf(order, `goods_of_${refundedBy(transaction)}`, is)];
}
