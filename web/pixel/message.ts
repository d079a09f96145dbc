/** What a site tells about the person who is looking at it. */
export type Identify = { email?: string; external_user_id?: string };

/** What a site tells about an order that was just placed. `amount` in major units. */
export type Order = { order_id: string; amount: number; currency?: string; email?: string };

export type Call = ['identify', Identify] | ['order', Order];

/**
 * The body that `/collect` takes, or null when nothing may be sent.
 *
 * With Global Privacy Control a person is not to be linked with what they do: an identify is not sent, and an
 * order goes without visitor and email, so that the shop's revenue is right and nobody is followed.
 *
 * @param key the site's publishable key
 * @param visitorId null when the visitor came without a short link
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
