import { type Connector, type Envelope, EventProblem, type Reading } from '../connector.ts';
import { isObject, type Json, maybeText } from '../fields.ts';
import { maybeInstant } from '../instants.ts';
import { headerOf } from '../signatures.ts';
import { EVENT_READERS, EVENT_TYPES } from './event-types.ts';
import { verifyShopify } from './signature.ts';

/** Shopify: orders of a store. The topic and the event's id are in headers. Ids are integers beyond 2^53. */
export const shopify: Connector = {
  provider: 'shopify',
  eventTypes: EVENT_TYPES,
  verify: verifyShopify,
  envelope(body, headers): Envelope {
    if (!isObject(body)) throw new EventProblem('the body must be a JSON object');
    const type = headerOf(headers, 'x-shopify-topic');
    const customer = isObject(body.customer) ? maybeText(body.customer, 'id') : null;
    // Several subscriptions get one event: the id of the event is the same, that of the delivery is not. Older versions
    // send the delivery's only.
    const eventId = headers['x-shopify-event-id'] ? 'x-shopify-event-id' : 'x-shopify-webhook-id';
    return { eventId: `${type}:${headerOf(headers, eventId)}`, type, customer };
  },
  read(body, { type }): Reading {
    if (!isObject(body)) throw new EventProblem('the body must be a JSON object');
    const at = maybeInstant(body, 'processed_at') ?? maybeInstant(body, 'created_at');
    if (at === null) throw new EventProblem('`created_at` must be an ISO 8601 instant');
    const head = { at: new Date(at), mode: modeOf(body) } as const;
    const reader = Object.hasOwn(EVENT_READERS, type) ? EVENT_READERS[type] : undefined;
    if (!reader) return { ...head, ignored: 'type_not_used' };
    const facts = reader(body);
    return facts.length > 0 ? { ...head, facts } : { ...head, ignored: 'says_nothing' };
  },
};

/** An order says whether it is a test order. A refund does not: its order tells. */
function modeOf(body: Json): 'live' | 'test' | null {
  if (typeof body.test !== 'boolean') return null;
  return body.test ? 'test' : 'live';
}
