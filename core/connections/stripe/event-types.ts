import type { Fact } from '../connector.ts';
import { type Json, textAt } from '../fields.ts';
import { checkoutFacts } from './checkout.ts';
import { customerFacts } from './customer.ts';
import { invoiceFact, invoicePaymentFact } from './invoice.ts';
import {
  chargeFact,
  creditNoteFact,
  disputeFact,
  failedRefundFact,
  intentFact,
  refundFact,
} from './payment.ts';

/**
 * How an event of a type is read.
 *
 * @param object `data.object`
 * @param at the event's time, milliseconds
 * @param former `data.previous_attributes`
 */
export type EventReader = (object: Json, at: number, former: Json | null) => readonly Fact[];

const some = (fact: Fact | null): Fact[] => (fact ? [fact] : []);

/**
 * The events that are understood. Source of each: "Types of events", https://docs.stripe.com/api/events/types, and the
 * object that it names. Since 2025-03-31 (`basil`) payments no longer name their invoice:
 * https://docs.stripe.com/changelog/basil/2025-03-31/add-support-for-multiple-partial-payments-on-invoices
 */
export const EVENT_READERS: Readonly<Record<string, EventReader>> = {
  // Object: checkout.session. Ties its customer to the user that it names.
  'checkout.session.completed': checkoutFacts,
  // Object: invoice. Also for one of 0, when a trial begins.
  'invoice.paid': (invoice, at) => [invoiceFact(invoice, at)],
  // Object: invoice_payment.
  'invoice_payment.paid': (payment, at) => [invoicePaymentFact(payment, at)],
  // Object: payment_intent.
  'payment_intent.succeeded': (intent, at) => [intentFact(intent, at)],
  // Object: charge. Sent for an authorization too; `charge.captured` follows.
  'charge.succeeded': (charge, at) => some(chargeFact(charge, at)),
  'charge.captured': (charge, at) => some(chargeFact(charge, at)),
  // Object: charge, "including partial refunds".
  'charge.refunded': (charge, at) => [refundFact(charge, at)],
  // Object: refund. One that failed or was canceled; the older API versions send `charge.refund.updated` alone.
  'refund.updated': (refund, at) => some(failedRefundFact(refund, at)),
  'refund.failed': (refund, at) => some(failedRefundFact(refund, at)),
  'charge.refund.updated': (refund, at) => some(failedRefundFact(refund, at)),
  // Object: credit_note. What was given back outside of Stripe.
  'credit_note.created': (note, at) => some(creditNoteFact(note, at)),
  'credit_note.voided': (note, at) => some(creditNoteFact(note, at)),
  // Object: dispute.
  'charge.dispute.created': (dispute, at) => [disputeFact(dispute, at)],
  'charge.dispute.closed': (dispute, at) => [disputeFact(dispute, at)],
  // An inquiry that becomes a dispute withdraws the money later than it was created.
  'charge.dispute.funds_withdrawn': (dispute, at) => [disputeFact(dispute, at)],
  'charge.dispute.funds_reinstated': (dispute, at) => [disputeFact(dispute, at)],
  // Object: customer.
  'customer.created': customerFacts,
  'customer.updated': customerFacts,
  // Object: promotion_code. Payments name codes by id only.
  'promotion_code.created': (code) => [codeFact(code)],
  'promotion_code.updated': (code) => [codeFact(code)],
};

/** The types to subscribe to in Stripe's dashboard. */
export const EVENT_TYPES: readonly string[] = Object.keys(EVENT_READERS);

const codeFact = (code: Json): Fact => ({
  kind: 'code',
  codeId: textAt(code, 'id'),
  code: textAt(code, 'code'),
});
