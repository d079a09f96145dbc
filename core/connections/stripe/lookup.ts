import type { Lookup, PaymentFact } from '../connector.ts';
import { isObject } from '../fields.ts';
import { openStripe } from './client.ts';
import { invoicePaymentFact } from './invoice.ts';

/** Limit of one call. Milliseconds. */
const TIMEOUT = 10_000;

/**
 * Asks Stripe whether a payment intent paid an invoice: https://docs.stripe.com/api/invoice-payment/list. A charge without
 * an intent can't be asked about.
 */
export const lookUpInvoice: Lookup = async (refs, { key, apiBase, now }) => {
  const intent = refs.find((ref) => ref.startsWith('pi_'));
  if (intent === undefined) return null;
  const stripe = await openStripe(key, apiBase, TIMEOUT);
  const { data } = await stripe.invoicePayments.list({
    payment: { type: 'payment_intent', payment_intent: intent },
    limit: 1,
  });
  const [found] = data as unknown[];
  if (isObject(found)) {
    const fact = invoicePaymentFact(found, now.getTime());
    return { ...fact, refs: [...new Set([...fact.refs, intent])] };
  }
  return {
    kind: 'payment',
    refs: [intent],
    customer: null,
    subscription: null,
    part: `lookup:${intent}`,
    is: { at: now.getTime(), standing: 'alone' },
  } satisfies PaymentFact;
};
