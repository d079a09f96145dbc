/** Identity of the current visitor, as the site reports it. */
export type Identify = { email?: string; external_user_id?: string };

/** An order that was just placed. `amount` is in major units. */
export type Order = { order_id: string; amount: number; currency?: string; email?: string };

export type Call = ['identify', Identify] | ['order', Order];

/**
 * The body for `/collect`, or null if nothing may be sent.
 *
 * With Global Privacy Control, an identify is not sent, and an order is sent without visitor and email: revenue stays
 * correct, and no person is tracked.
 *
 * @param key the site's publishable key
 * @param visitorId null if the visitor did not come through a short link
 */
export function messageOf(
  call: Call,
  key: string,
  visitorId: string | null,
  privacyControl: boolean,
): string | null {
  const [type, fields] = call;
  if (!privacyControl) return JSON.stringify({ ...fields, key, type, visitor_id: visitorId });
  if (type === 'identify') return null;
  const { order_id, amount, currency } = fields;
  return JSON.stringify({ order_id, amount, currency, key, type, visitor_id: null });
}
