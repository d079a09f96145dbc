import { type Connector, type Envelope, EventProblem, type Reading } from '../connector.ts';
import { isObject, maybeText, objectAt, textAt } from '../fields.ts';
import { instantAt } from '../instants.ts';
import { EVENT_READERS, EVENT_TYPES } from './event-types.ts';
import { verifyPaddle } from './signature.ts';

/** Paddle Billing. Its sandbox is an account of its own, and events do not tell which account they are of. */
export const paddle: Connector = {
  provider: 'paddle',
  eventTypes: EVENT_TYPES,
  verify: verifyPaddle,
  envelope(body): Envelope {
    if (!isObject(body)) throw new EventProblem('the body must be a JSON object');
    const type = textAt(body, 'event_type');
    const object = objectAt(body, 'data');
    const customer = type.startsWith('customer.')
      ? maybeText(object, 'id')
      : maybeText(object, 'customer_id');
    // A repeated notification has another `notification_id` and the same `event_id`.
    return { eventId: textAt(body, 'event_id'), type, customer };
  },
  read(body, { type }): Reading {
    if (!isObject(body)) throw new EventProblem('the body must be a JSON object');
    const at = instantAt(body, 'occurred_at');
    const head = { at: new Date(at), mode: null };
    const reader = Object.hasOwn(EVENT_READERS, type) ? EVENT_READERS[type] : undefined;
    if (!reader) return { ...head, ignored: 'type_not_used' };
    const facts = reader(objectAt(body, 'data'), at);
    return facts.length > 0 ? { ...head, facts } : { ...head, ignored: 'says_nothing' };
  },
};
