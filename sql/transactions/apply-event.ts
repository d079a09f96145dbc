import type { CodeFact, PaymentFact, Reading } from '../../core/connections/connector.ts';
import { OPEN_MS } from '../../core/connections/payment-parts.ts';
import type { Connection } from '../connections/connections.ts';
import { putCode, putCustomerEmail, tiePayer } from '../connections/customers.ts';
import type { DueEvent, Outcome } from '../connections/events.ts';
import {
  openPaymentsOfPayer,
  openPaymentsWithCode,
  payerOf,
  paymentById,
  putPaymentFact,
} from '../connections/payments.ts';
import type { Queryable } from '../database/pool.ts';
import { auditProvider } from './audit-provider.ts';
import type { PaymentContext } from './payment-buyer.ts';
import { settlePayment } from './settle-payment.ts';

/**
 * Applies what an event says: stores it, and settles every payment that it concerns. The caller has locked the connection.
 *
 * @returns the outcome of the event, and the payment that it is about
 */
export async function applyEvent(
  tx: Queryable,
  context: PaymentContext,
  event: Pick<DueEvent, 'event_id' | 'is_replay'>,
  reading: Reading,
): Promise<Outcome & { paymentId: string | null }> {
  const { connection, now } = context;
  const { mode, accounts = [] } = connection.settings;
  if (reading.mode !== null && reading.mode !== mode) {
    return { status: 'ignored', reason: `${reading.mode}_mode`, paymentId: null };
  }
  const { account = null } = reading;
  if (account !== null && !accounts.includes(account))
    return { status: 'ignored', reason: 'connected_account', paymentId: null };
  if ('ignored' in reading) return { status: 'ignored', reason: reading.ignored, paymentId: null };
  const since = new Date(now.getTime() - OPEN_MS);
  /** Payments whose outcome may change. */
  const concerned = new Set<string>();
  let own: string | null = null;
  for (const fact of reading.facts) {
    if (fact.kind === 'tie') {
      const { kind: _, customer, account = null, subscription, ...buyer } = fact;
      const payer = { customer, account, subscription };
      const source = { eventId: event.event_id, connectionId: connection.id, at: reading.at };
      if (await tiePayer(tx, connection, { payer, buyer }, source))
        await auditProvider(tx, context, 'customer.tie', {
          customer: customer ?? account ?? subscription ?? '',
        });
      for (const { id } of await openPaymentsOfPayer(tx, connection, payer, since)) concerned.add(id);
    } else if (fact.kind === 'customer') {
      await putCustomerEmail(tx, connection, fact, reading.at);
      const payer = { customer: fact.customer, subscription: null };
      for (const { id } of await openPaymentsOfPayer(tx, connection, payer, since)) concerned.add(id);
    } else if (fact.kind === 'code') {
      await putCode(tx, connection, fact);
      const payments = await openPaymentsWithCode(tx, connection, fact.codeId, since);
      for (const payment of payments) concerned.add(payment.id);
    } else {
      const payment = await putPaymentFact(tx, connection, fact, now);
      own = payment.id;
      concerned.add(own);
    }
  }
  let outcome: Outcome = { status: 'recorded', reason: null };
  for (const id of await inOrderOfPayment(tx, connection, concerned, since)) {
    const payment = await paymentById(tx, id);
    if (!payment) continue;
    const settled = await settlePayment(tx, context, payment, { isForced: event.is_replay && id === own });
    if (id === own) outcome = settled;
  }
  return { ...outcome, paymentId: own };
}

/**
 * Applies what the provider has answered about a payment, and settles it with those that it concerns. The caller has locked
 * the connection.
 */
export async function applyFound(
  tx: Queryable,
  context: PaymentContext,
  paymentId: string,
  found: readonly (PaymentFact | CodeFact)[],
): Promise<void> {
  const { connection, now } = context;
  const since = new Date(now.getTime() - OPEN_MS);
  let own = paymentId;
  const concerned = new Set([own]);
  for (const fact of found) {
    if (fact.kind === 'code') {
      await putCode(tx, connection, fact);
      for (const { id } of await openPaymentsWithCode(tx, connection, fact.codeId, since)) concerned.add(id);
    } else {
      own = (await putPaymentFact(tx, connection, fact, now)).id;
      concerned.add(own);
    }
  }
  for (const id of await inOrderOfPayment(tx, connection, concerned, since)) {
    const payment = await paymentById(tx, id);
    if (payment) await settlePayment(tx, context, payment, { isAsked: id === own });
  }
}

/**
 * Returns these payments and the open ones of the same payers, in the order in which they were paid: whether a payment is
 * a renewal, and who bought, follow from the earlier ones.
 */
async function inOrderOfPayment(
  tx: Queryable,
  connection: Connection,
  ids: Iterable<string>,
  since: Date,
): Promise<string[]> {
  const found = new Map<string, number>();
  const waiting = [...ids];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const payment = found.has(id) ? null : await paymentById(tx, id);
    if (!payment) continue; // joined to another one
    found.set(id, payment.paid_at?.getTime() ?? 0);
    for (const other of await openPaymentsOfPayer(tx, connection, payerOf(payment), since))
      waiting.push(other.id);
  }
  return [...found].sort(([a, one], [b, other]) => one - other || (a < b ? -1 : 1)).map(([id]) => id);
}
