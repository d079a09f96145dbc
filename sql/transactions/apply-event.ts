import type { CodeFact, Payer, PaymentFact, Reading } from '../../core/connections/connector.ts';
import { OPEN_MS, payersOf } from '../../core/connections/payment-parts.ts';
import type { Connection } from '../connections/connections.ts';
import { putCode, putCustomerEmail, tiePayer } from '../connections/customers.ts';
import type { DueEvent, Outcome } from '../connections/events.ts';
import {
  type ConnectionPayment,
  openPaymentsOfPayer,
  openPaymentsWithCode,
  payerOf,
  paymentsById,
  putPaymentFact,
} from '../connections/payments.ts';
import type { Queryable } from '../database/pool.ts';
import { auditProvider } from './audit-provider.ts';
import type { PaymentContext } from './payment-buyer.ts';
import { settlePayment } from './settle-payment.ts';

/**
 * Applies an event: stores its facts, and settles every payment that it concerns. The caller has locked the connection.
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
  /** Payments whose outcome may change, and payers whose other payments may. */
  const concerned = new Set<string>();
  const payers: Payer[] = [];
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
      payers.push(payer);
    } else if (fact.kind === 'customer') {
      await putCustomerEmail(tx, connection, fact, reading.at);
      payers.push({ customer: fact.customer, account: fact.customer, subscription: null });
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
  for (const payment of await inOrderOfPayment(tx, connection, { ids: concerned, payers, since })) {
    const isOwn = payment.id === own;
    const settled = await settlePayment(tx, context, payment, { isForced: event.is_replay && isOwn });
    if (isOwn) outcome = settled;
  }
  return { ...outcome, paymentId: own };
}

/**
 * Applies the provider's response about a payment, and settles the payments that it concerns. The caller has locked the
 * connection.
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
  for (const payment of await inOrderOfPayment(tx, connection, { ids: concerned, payers: [], since }))
    await settlePayment(tx, context, payment, { isAsked: payment.id === own });
}

/**
 * Returns these payments and the open ones of these and their own payers, in the order in which they were paid. Earlier
 * payments determine whether a payment is a renewal, and its buyer. A payment that was joined to another is left out.
 */
async function inOrderOfPayment(
  tx: Queryable,
  connection: Connection,
  given: { ids: ReadonlySet<string>; payers: readonly Payer[]; since: Date },
): Promise<ConnectionPayment[]> {
  const found = new Map<string, ConnectionPayment>();
  const waiting = [...given.payers];
  const add = (payments: readonly ConnectionPayment[]) => {
    for (const payment of payments) {
      if (found.has(payment.id)) continue;
      found.set(payment.id, payment);
      waiting.push(payerOf(payment));
    }
  };
  add(await paymentsById(tx, [...given.ids]));
  const known = new Set<string>();
  for (let payer = waiting.pop(); payer !== undefined; payer = waiting.pop()) {
    const names = payersOf(payer).filter((name) => !known.has(name));
    for (const name of names) known.add(name);
    if (names.length > 0) add(await openPaymentsOfPayer(tx, connection, payer, given.since));
  }
  const paidAt = (payment: ConnectionPayment) => payment.paid_at?.getTime() ?? 0;
  return [...found.values()].sort((a, b) => paidAt(a) - paidAt(b) || (a.id < b.id ? -1 : 1));
}
