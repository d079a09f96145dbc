import { attempt } from './attempt.ts';

/** Identity of the current visitor, as the site reports it. */
export type Identify = { email?: string; external_user_id?: string | number };

/** An order that was just placed. `amount` is in major units. */
export type Order = Identify & { order_id: string | number; amount: number | string; currency?: string };

/**
 * A call with its fields at the time of the call. A page that was opened with a referrer's code has that code:
 * `via=anna`.
 */
export type Call = { type: string; [field: string]: unknown };

/** The only fields of a call that are sent, because shops pass whole carts. The last two identify a person. */
const FIELDS = 'order_id,amount,currency,email,external_user_id'.split(',');

/**
 * Returns the call with a copy of its fields, because pages change their objects. A field that can't be read is left
 * out.
 *
 * @param isPrivate excludes the fields that identify a person
 */
export const callOf = (type: string, fields: unknown, isPrivate: boolean): Call => {
  const call: Call = { type };
  for (const name of FIELDS.slice(type === 'order' ? 0 : 3, isPrivate ? 3 : 5))
    attempt(() => {
      const value = (fields as Record<string, unknown>)[name];
      call[name] = typeof value === 'bigint' ? `${value}` : value;
    });
  return call;
};

/**
 * Returns the body for `/collect`.
 *
 * @param key the site's publishable key
 * @param ages how many seconds ago the browser got each of its ids, newest first; empty if the visitor did not come
 * through a short link, or must not be identified
 * @param test the test that the console runs with this page
 * @throws when a field can't be written as JSON
 */
export const messageOf = (
  call: Call,
  key: string,
  ages: Record<string, number>,
  test: string | undefined,
): string => {
  const ids = Object.keys(ages);
  return JSON.stringify({
    key,
    visitor_id: ids[0] || null,
    visitor_ids: ids[1] && ids,
    landed: ids[0] && ages,
    test,
    ...call,
  });
};
