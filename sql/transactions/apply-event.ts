import type { Reading } from '../../core/connections/connector.ts';
import { OPEN_MS } from '../../core/connections/payment-parts.ts';
import { putCode, tieCustomer } from '../connections/customers.ts';
import type { DueEvent, Outcome } from '../connections/events.ts';
import {
  openPaymentsOfCustomer,
  openPaymentsWithCode,
  paymentById,
  paymentsOfSubscription,
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
  const { mode } = connection.settings;
  if (reading.mode !== null && reading.mode !== mode) {
    return { status: 'ignored', reason: `${reading.mode}_mode`, paymentId: null };
  }
  if ('ignored' in reading) return { status: 'ignored', reason: reading.ignored, paymentId: null };
  const since = new Date(now.getTime() - OPEN_MS);
  /** Payments whose outcome may change. */
  const concerned = new Set<string>();
  let own: string | null = null;
  for (const fact of reading.facts) {
    if (fact.kind === 'tie') {
      if (await tieCustomer(tx, connection, fact, { eventId: event.event_id, at: reading.at }))
        await auditProvider(tx, context, 'customer.tie', { customer: fact.customer });
      const payments = await openPaymentsOfCustomer(tx, connection.id, fact.customer, since);
      for (const payment of payments) concerned.add(payment.id);
    } else if (fact.kind === 'code') {
      await putCode(tx, connection, fact);
      const payments = await openPaymentsWithCode(tx, connection.id, fact.codeId, since);
      for (const payment of payments) concerned.add(payment.id);
    } else {
      const payment = await putPaymentFact(tx, connection, fact, now);
      own = payment.id;
      concerned.add(own);
      if (payment.subscription_id === null) continue;
      // Whether a payment is a renewal depends on the others.
      for (const other of await paymentsOfSubscription(tx, connection.id, payment.subscription_id)) {
        if (other.created_at >= since) concerned.add(other.id);
      }
    }
  }
  let outcome: Outcome = { status: 'recorded', reason: null };
  for (const id of concerned) {
    const payment = await paymentById(tx, id);
    if (!payment) continue; // joined to another one
    const settled = await settlePayment(tx, context, payment, { isForced: event.is_replay && id === own });
    if (id === own) outcome = settled;
  }
  return { ...outcome, paymentId: own };
}
