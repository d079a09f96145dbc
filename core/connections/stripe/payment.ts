import { shareOf } from '../amounts.ts';
import { buyerOf, metadataOf } from '../buyer.ts';
import type { PaymentFact } from '../connector.ts';
import {
  integerAt,
  type Json,
  maybeId,
  maybeInteger,
  maybeObject,
  maybeText,
  objectsIn,
  textAt,
} from '../fields.ts';
import { moneyOf } from './amounts.ts';

const INTENT = 2;
const CHARGE = 1;

/** Reads `payment_intent.succeeded`. */
export function intentFact(intent: Json, at: number): PaymentFact {
  const id = textAt(intent, 'id');
  // API versions before 2022-11-15 list the charges.
  const [charge = null] = objectsIn(maybeObject(intent, 'charges')?.data);
  const refs = [id, maybeId(intent, 'latest_charge'), maybeId(charge, 'id'), maybeId(intent, 'invoice')];
  const buyer = buyerOf(metadataOf(intent));
  const { minor, currency } = moneyOf(integerAt(intent, 'amount_received'), textAt(intent, 'currency'));
  return {
    kind: 'payment',
    refs: refs.filter((ref) => ref !== null),
    customer: maybeId(intent, 'customer'),
    account: maybeId(intent, 'customer_account'),
    subscription: null,
    part: `intent:${id}`,
    is: {
      at,
      standing: standingOf(intent),
      ...(buyer && { buyer }),
      email: maybeText(intent, 'receipt_email') ?? emailOfCharge(charge),
      sale: {
        precedence: INTENT,
        ref: id,
        amountMinor: minor,
        commissionableMinor: minor,
        currency,
        paidAt: at,
        cycle: 'none',
      },
    },
  };
}

/** Reads a captured charge. Null: it is only authorized. */
export function chargeFact(charge: Json, at: number): PaymentFact | null {
  if (charge.captured !== true) return null;
  const id = textAt(charge, 'id');
  const intent = maybeId(charge, 'payment_intent');
  const buyer = buyerOf(metadataOf(charge));
  // API versions before 2020-08-27 have no `amount_captured`: what was not captured was refunded.
  const { minor, currency } = moneyOf(
    charge.amount_captured === undefined ? integerAt(charge, 'amount') : integerAt(charge, 'amount_captured'),
    textAt(charge, 'currency'),
  );
  return {
    ...ofCharge(charge),
    part: `charge:${id}`,
    is: {
      at,
      standing: standingOf(charge),
      ...(buyer && { buyer }),
      email: emailOfCharge(charge) ?? maybeText(charge, 'receipt_email'),
      sale: {
        precedence: CHARGE,
        ref: intent ?? id,
        amountMinor: minor,
        commissionableMinor: minor,
        currency,
        paidAt: at,
        cycle: 'none',
      },
    },
  };
}

/** Reads `charge.refunded`: the charge with the sum of its refunds, whichever of them it is about. */
export function refundFact(charge: Json, at: number): PaymentFact {
  const refunded = integerAt(charge, 'amount_refunded');
  return {
    ...ofCharge(charge),
    part: refundsOf(textAt(charge, 'id')),
    is: { at, refunded: moneyOf(refunded, textAt(charge, 'currency')) },
  };
}

/** Name of the part that has the sum of a charge's refunds. */
const refundsOf = (charge: string) => `refund:${charge}`;

/** Reads `refund.updated` and `refund.failed`. Null: it has not failed, and the charge tells of it. */
export function failedRefundFact(refund: Json, at: number): PaymentFact | null {
  const status = maybeText(refund, 'status');
  if (status !== 'failed' && status !== 'canceled') return null;
  const charge = maybeId(refund, 'charge');
  return {
    kind: 'payment',
    refs: [charge, maybeId(refund, 'payment_intent')].filter((ref) => ref !== null),
    customer: null,
    subscription: null,
    part: `failed_refund:${textAt(refund, 'id')}`,
    is: {
      at,
      // The first event about the failure has its time.
      rank: -at,
      failedRefund: {
        ...moneyOf(integerAt(refund, 'amount'), textAt(refund, 'currency')),
        of: charge === null ? null : refundsOf(charge),
      },
    },
  };
}

/**
 * Reads a credit note: money that was given back outside of Stripe, and what of the note's refunds is goods. The charge
 * tells how much Stripe gave back. Sources: https://docs.stripe.com/api/credit_notes/object;
 * https://docs.stripe.com/tax/invoicing/refunds (a refund without a note is of goods and tax alike)
 */
export function creditNoteFact(note: Json, at: number): PaymentFact | null {
  const given = maybeInteger(note, 'out_of_band_amount') ?? 0;
  const refunded = refundedBy(note);
  if (given <= 0 && refunded <= 0) return null;
  const currency = textAt(note, 'currency');
  const total = maybeInteger(note, 'total') ?? given + refunded;
  const shipping = maybeInteger(maybeObject(note, 'shipping_cost'), 'amount_subtotal') ?? 0;
  const goods = (maybeInteger(note, 'total_excluding_tax') ?? total) - shipping;
  const isVoid = textAt(note, 'status') === 'void';
  const moneyOfNote = (amount: number) => ({
    ...moneyOf(amount, currency),
    goods: moneyOf(shareOf(amount, goods, total), currency).minor,
  });
  return {
    kind: 'payment',
    refs: [maybeId(note, 'invoice')].filter((ref) => ref !== null),
    customer: maybeId(note, 'customer'),
    account: maybeId(note, 'customer_account'),
    subscription: null,
    part: `credit_note:${textAt(note, 'id')}`,
    is: {
      at,
      refunded: moneyOfNote(isVoid ? 0 : given),
      ...(refunded > 0 && { split: moneyOfNote(isVoid ? 0 : refunded) }),
    },
  };
}

/**
 * Returns how much the refunds of a credit note gave back. API versions before 2025-03-31 name one refund, with no
 * amount.
 */
function refundedBy(note: Json): number {
  const listed = objectsIn(note.refunds).map((one) => maybeInteger(one, 'amount_refunded') ?? 0);
  if (listed.length > 0) return listed.reduce((sum, one) => sum + one, 0);
  const isAlone = maybeId(note, 'refund') !== null && maybeId(note, 'customer_balance_transaction') === null;
  return isAlone ? (maybeInteger(note, 'total') ?? 0) - (maybeInteger(note, 'out_of_band_amount') ?? 0) : 0;
}

/** Reads `charge.dispute.*`. */
export function disputeFact(dispute: Json, at: number): PaymentFact {
  const state = stateOf(textAt(dispute, 'status'));
  const money = moneyOf(integerAt(dispute, 'amount'), textAt(dispute, 'currency'));
  // A network may dispute in a currency of its own. The withdrawal is of the same worth, in the account's currency.
  const [withdrawn] = objectsIn(dispute.balance_transactions).filter((one) => Number(one.amount) < 0);
  const settled = withdrawn && moneyOf(-integerAt(withdrawn, 'amount'), textAt(withdrawn, 'currency'));
  return {
    kind: 'payment',
    refs: [maybeId(dispute, 'charge'), maybeId(dispute, 'payment_intent')].filter((ref) => ref !== null),
    customer: null,
    subscription: null,
    part: `dispute:${textAt(dispute, 'id')}`,
    is: {
      at,
      rank: state.rank,
      dispute: { ...money, state: state.is },
      ...(settled && { pair: [money, settled] as const }),
    },
  };
}

const ofCharge = (charge: Json) => ({
  kind: 'payment' as const,
  refs: [textAt(charge, 'id'), maybeId(charge, 'payment_intent'), maybeId(charge, 'invoice')].filter(
    (ref) => ref !== null,
  ),
  customer: maybeId(charge, 'customer'),
  account: maybeId(charge, 'customer_account'),
  subscription: null,
});

const emailOfCharge = (charge: Json | null) => maybeText(maybeObject(charge, 'billing_details'), 'email');

/**
 * Before API version 2025-03-31 an intent and a charge name their invoice, or have null there. Later ones don't tell.
 */
function standingOf(object: Json): 'invoice' | 'alone' | 'unsure' {
  if (maybeId(object, 'invoice') !== null) return 'invoice';
  return object.invoice === null ? 'alone' : 'unsure';
}

/**
 * An inquiry (`warning_*`) and a dispute that was prevented take no money. Of several events about one dispute the
 * state of the highest rank counts; an appeal may still change one that is closed, so closed states are of one rank.
 */
function stateOf(status: string): { rank: number; is: 'inquiry' | 'taken' | 'won' } {
  if (status === 'won') return { rank: 2, is: 'won' };
  if (status === 'lost') return { rank: 2, is: 'taken' };
  if (status.startsWith('warning_') || status === 'prevented') return { rank: 0, is: 'inquiry' };
  return { rank: 1, is: 'taken' };
}
