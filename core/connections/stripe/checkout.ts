import { buyerOf, metadataOf } from '../buyer.ts';
import type { Fact } from '../connector.ts';
import { type Json, maybeId, maybeInteger, maybeObject, maybeText, objectsIn, textAt } from '../fields.ts';
import { moneyOf } from './amounts.ts';
import { codesOfDiscount } from './invoice.ts';

/**
 * Reads `checkout.session.completed`: who the customer is, and what of the payment is tax and shipping. A payer may be
 * an account instead of a customer: https://docs.stripe.com/connect/use-accounts-as-customers
 */
export function checkoutFacts(session: Json, at: number): Fact[] {
  const id = textAt(session, 'id');
  const invoice = maybeId(session, 'invoice');
  const refs = [invoice, maybeId(session, 'payment_intent')].filter((ref) => ref !== null);
  const customer = maybeId(session, 'customer');
  const buyer = buyerOf(metadataOf(session), session.client_reference_id);
  const subscription = maybeId(session, 'subscription');
  const account = maybeId(session, 'customer_account');
  const payer = { customer, account, subscription };
  const tie =
    buyer && (customer ?? account ?? subscription) ? ({ kind: 'tie', ...payer, ...buyer } as const) : null;
  const email =
    maybeText(maybeObject(session, 'customer_details'), 'email') ?? maybeText(session, 'customer_email');
  // A session that sets up a later payment has none yet: it tells of the payer.
  if (refs.length === 0) {
    const id = customer ?? account;
    return [
      ...(tie ? [tie] : []),
      ...(id !== null && email !== null ? [{ kind: 'customer' as const, customer: id, email }] : []),
    ];
  }
  const makesInvoice = maybeObject(session, 'invoice_creation')?.enabled === true;
  const isAlone = session.mode === 'payment' && invoice === null && !makesInvoice;
  const share = shareOf(session);
  return [
    ...(tie ? [tie] : []),
    {
      kind: 'payment',
      refs: [...refs, id],
      ...payer,
      part: `session:${id}`,
      is: {
        at,
        ...(isAlone && { standing: 'alone' as const }),
        ...(invoice !== null && { standing: 'invoice' as const }),
        ...(buyer && { buyer }),
        email,
        codes: objectsIn(session.discounts).flatMap(codesOfDiscount),
        ...(share && { share }),
      },
    },
  ];
}

function shareOf(session: Json): { totalMinor: number; commissionableMinor: number } | null {
  const total = maybeInteger(session, 'amount_total');
  const currency = maybeText(session, 'currency');
  if (total === null || currency === null) return null;
  const details = maybeObject(session, 'total_details');
  // `amount_tax` has the tax of the shipping too, `amount_shipping` is without it.
  const rest =
    total - (maybeInteger(details, 'amount_tax') ?? 0) - (maybeInteger(details, 'amount_shipping') ?? 0);
  return {
    totalMinor: moneyOf(total, currency).minor,
    commissionableMinor: moneyOf(Math.max(0, rest), currency).minor,
  };
}
