import { unstorableIn } from '../text/storable.ts';
import type { Buyer } from './connector.ts';
import { type Json, maybeObject } from './fields.ts';

/**
 * Returns the names that metadata gives the buyer; null when it gives none.
 *
 * @param reference `client_reference_id` of a checkout session: a user, or the visitor that the pixel set
 */
export function buyerOf(metadata: Json | null, reference: unknown = null): Buyer | null {
  const buyer = {
    externalUserId: idIn(metadata?.hoplog_user_id),
    visitorId: idIn(metadata?.hoplog_visitor_id),
    reference: idIn(reference),
  };
  return Object.values(buyer).every((name) => name === null) ? null : buyer;
}

/** Most characters of a user's id, as in reports. */
const ID_LIMIT = 200;

/**
 * Returns an id. A checkout takes it from the buyer's browser: an invalid id names no user, and the purchase still
 * counts.
 */
function idIn(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text === '') return null;
  return [...text].length <= ID_LIMIT && unstorableIn(text) === null ? text : null;
}

export const metadataOf = (object: Json | null): Json | null => maybeObject(object, 'metadata');
