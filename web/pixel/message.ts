/** Identity of the current visitor, as the site reports it. */
export type Identify = { email?: string; external_user_id?: string | number };

/** An order that was just placed. `amount` is in major units. */
export type Order = Identify & { order_id: string | number; amount: number | string; currency?: string };

/** A page that was opened with a referrer's code: `code` is the parameter as in the address, `via=anna`. */
export type Visit = { code: string; referrer: string };

export type Call =
  | readonly ['identify', Identify]
  | readonly ['order', Order]
  | readonly ['visit', Visit]
  | readonly ['test', object];

/** The only fields that are sent: shops pass whole carts. */
const FIELDS: Record<string, readonly string[]> = {
  identify: ['email', 'external_user_id'],
  order: ['order_id', 'amount', 'currency', 'email', 'external_user_id'],
  visit: ['code', 'referrer'],
};
/** Those that name no person. */
const ANONYMOUS = 3;

/** From whom a call comes. */
export type Sender = {
  /** The site's publishable key. */
  key: string;
  /** The browser's ids, newest first; empty if the visitor did not come through a short link. */
  visitorIds: readonly string[];
  /** How many seconds ago the browser got an id; an age that is unknown is left out, or absurd. */
  ages: Record<string, number>;
  privacyControl: boolean;
  /** The test that the console runs with this page; null: none. */
  test: string | null;
};

/**
 * Returns the body for `/collect`, or null if nothing may be sent.
 *
 * With Global Privacy Control, an identify is not sent, and an order is sent without visitor, email and user: revenue
 * stays correct, and no person is tracked.
 *
 * @throws when a field can't be read or written as JSON
 */
export function messageOf(
  call: Call,
  { key, visitorIds, ages, privacyControl, test }: Sender,
): string | null {
  const [type, given] = call;
  if (privacyControl && type === 'identify') return null;
  const ids = privacyControl ? [] : visitorIds;
  const body: Record<string, unknown> = { key, type, visitor_id: ids[0] || null };
  if (ids.length > 1) body.visitor_ids = ids;
  if (ids.length > 0) body.landed = ages;
  if (test) body.test = test;
  const fields = given as Record<string, unknown>;
  (FIELDS[type] || []).slice(0, privacyControl ? ANONYMOUS : undefined).forEach((name) => {
    const value = fields?.[name];
    if (value !== undefined && value !== null) body[name] = typeof value === 'bigint' ? String(value) : value;
  });
  return JSON.stringify(body);
}
