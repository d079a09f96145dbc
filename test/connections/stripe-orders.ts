import { checkout, invoice, stripeEvent } from '../../core/connections/stripe/fixtures/events.ts';
import type { TestApi } from '../support/api.ts';
import type { stripeShop } from './rig.ts';
import { ago } from './rig.ts';

/**
 * Events of the buyer `n`, and the orders that they make. The referrer `r` brought `n`, and earns 20 percent at once.
 */

export type StripeShop = Awaited<ReturnType<typeof stripeShop>>;

/** Fields of an object that names the buyer. */
export const signedUp = { metadata: { hoplog_user_id: 'n' } };

/** A checkout that names the buyer. */
export const session = (fields: object, at = ago(60)) =>
  stripeEvent('checkout.session.completed', checkout('cs_1', { ...signedUp, ...fields }), at);

/** A paid invoice of a subscription. */
export const paid = (id: string, total: number, fields: object = {}, at = ago(60)) =>
  stripeEvent('invoice.paid', invoice(id, total, { subscription: 'sub_1', ...fields }), at);

/** By order: the buyer, amount, commissionable amount, what was refunded, what was earned, and why not. */
export async function ordersOf(shop: StripeShop) {
  const { purchases } = await shop.ledger();
  return Object.fromEntries(
    purchases.map((one) => [
      one.order_id,
      {
        user: one.external_user_id,
        amount: one.amount_minor,
        base: one.commissionable_minor ?? one.amount_minor,
        renewal: one.is_renewal,
        refunded: one.refunded,
        earned: one.earned,
        ...(one.reason && { reason: one.reason }),
      },
    ]),
  );
}

/** An order of `n` as {@link ordersOf} returns it. */
export const order = (amount: number, more: object = {}) => ({
  user: 'n',
  amount,
  base: amount,
  renewal: false,
  refunded: 0,
  earned: amount / 5,
  ...more,
});

/** Advances the time of all payments of a shop by hours. */
export async function pass(api: TestApi, { connectionId }: StripeShop, hours: number): Promise<void> {
  await api.stores.pool.query(
    `UPDATE connection_payments SET created_at = created_at - make_interval(hours => $2),
       due_at = due_at - make_interval(hours => $2) WHERE connection_id = $1`,
    [connectionId, hours],
  );
}
