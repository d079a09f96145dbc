import type { Buyer } from './connector.ts';
import { type Json, maybeObject, maybeText } from './fields.ts';

/**
 * Returns the names that metadata gives the buyer; null when it gives none.
 *
 * @param reference `client_reference_id` of a checkout session: a user, or the visitor that the pixel set
 */
export function buyerOf(metadata: Json | null, reference: string | null = null): Buyer | null {
  const externalUserId = maybeText(metadata, 'hoplog_user_id');
  const visitorId = maybeText(metadata, 'hoplog_visitor_id');
  if (externalUserId === null && visitorId === null && reference === null) return null;
  return { externalUserId, visitorId, reference };
}

export const metadataOf = (object: Json | null): Json | null => maybeObject(object, 'metadata');
