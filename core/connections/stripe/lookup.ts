import type Stripe from 'stripe';
import { storableText } from '../../text/storable.ts';
import { type CodeFact, EventProblem, type Lookup, type PaymentFact, type Question } from '../connector.ts';
import { isObject, type Json } from '../fields.ts';
import { requireStorable } from '../storable-facts.ts';
import { openStripe } from './client.ts';
import { couponOfDiscount, discountsOf, invoicePaymentFact, textOfDiscount } from './invoice.ts';

/** Limit of one call. Milliseconds. */
const TIMEOUT = 10_000;
const MOST_INVOICES = 100;

/** Asks Stripe what events have left open about a payment. */
export const lookUpPayment: Lookup = async (question, { key, apiBase, now }) => {
  const stripe = await openStripe(key, apiBase, TIMEOUT);
  return [
    ...(question.isUnsure ? await invoiceOf(stripe, question, now) : []),
    ...(question.earlierOf ? await earlierOf(stripe, question, question.earlierOf, now) : []),
    ...(question.codes.length > 0 ? await codesOf(stripe, question) : []),
  ];
};

/**
 * Whether a payment intent paid an invoice: https://docs.stripe.com/api/invoice-payment/list. A charge without an
 * intent can't be asked about.
 */
async function invoiceOf(stripe: Stripe, { refs }: Question, now: Date): Promise<PaymentFact[]> {
  const intent = refs.find((ref) => ref.startsWith('pi_'));
  if (intent === undefined) return [];
  const { data } = await stripe.invoicePayments.list({
    payment: { type: 'payment_intent', payment_intent: intent },
    limit: 1,
  });
  const [found] = data as unknown[];
  if (isObject(found)) return invoiceIn(found, intent, now.getTime());
  return [partOf(intent, `lookup:${intent}`, { at: now.getTime(), standing: 'alone' })];
}

/** Reads an invoice payment. One that can't be read tells nothing: the payment waits for its events. */
function invoiceIn(found: Json, intent: string, at: number): PaymentFact[] {
  try {
    const fact = invoicePaymentFact(found, at);
    requireStorable(at, [fact]);
    return [{ ...fact, refs: [...new Set([...fact.refs, intent])] }];
  } catch (error) {
    if (error instanceof EventProblem) return [];
    throw error;
  }
}

/** Whether an invoice of the subscription was paid before: https://docs.stripe.com/api/invoices/list */
async function earlierOf(
  stripe: Stripe,
  { refs }: Question,
  { subscription, paidAt }: NonNullable<Question['earlierOf']>,
  now: Date,
): Promise<PaymentFact[]> {
  const [ref] = refs;
  if (ref === undefined) return [];
  const found = await known(stripe.invoices.list({ subscription, status: 'paid', limit: MOST_INVOICES }));
  if (!found) return [];
  const hasEarlier = found.data.some(
    ({ id, amount_paid, created, status_transitions }) =>
      !refs.includes(id) && amount_paid > 0 && (status_transitions?.paid_at ?? created) * 1_000 < paidAt,
  );
  return [partOf(ref, `history:${subscription}`, { at: now.getTime(), hasEarlier })];
}

const partOf = (ref: string, part: string, is: PaymentFact['is']): PaymentFact => ({
  kind: 'payment',
  refs: [ref],
  customer: null,
  subscription: null,
  part,
  is,
});

/**
 * The texts of discount codes: https://docs.stripe.com/api/promotion_codes/retrieve. A discount (`di_...`) can only be
 * read with its invoice.
 */
async function codesOf(stripe: Stripe, { refs, codes }: Question): Promise<CodeFact[]> {
  const invoice = refs.find((ref) => ref.startsWith('in_'));
  const ofInvoice = new Map<string, string>();
  if (invoice !== undefined && codes.some((code) => code.startsWith('di_'))) {
    const expand = ['discounts.promotion_code', 'lines.data.discounts.promotion_code'];
    const found: unknown = await known(stripe.invoices.retrieve(invoice, { expand }));
    for (const discount of isObject(found) ? discountsOf(found) : []) {
      // The text of its promotion code, else its coupon, as where an event has the whole discount.
      const text = isObject(discount) ? (textOfDiscount(discount) ?? couponOfDiscount(discount)) : null;
      if (isObject(discount) && typeof discount.id === 'string' && text) ofInvoice.set(discount.id, text);
    }
  }
  const facts: CodeFact[] = [];
  for (const codeId of codes) {
    const code = codeId.startsWith('promo_')
      ? (await known(stripe.promotionCodes.retrieve(codeId)))?.code
      : ofInvoice.get(codeId);
    facts.push({ kind: 'code', codeId, code: storableText(code ?? '') });
  }
  return facts;
}

const REFUSED = [401, 403, 404];

/** Returns what Stripe knows; null where it knows nothing, or the key may not read it: asking again changes nothing. */
async function known<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (REFUSED.includes((error as Partial<Stripe.errors.StripeError>).statusCode ?? 0)) return null;
    throw error;
  }
}
