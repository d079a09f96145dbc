import { type Connector, type Envelope, EventProblem, type Reading } from '../connector.ts';
import { isObject, maybeText, objectAt, textAt } from '../fields.ts';
import { instantAt } from '../instants.ts';
import { headerOf } from '../signatures.ts';
import { EVENT_READERS, EVENT_TYPES } from './event-types.ts';
import { verifyPolar } from './signature.ts';

/** Polar. Its sandbox is a service of its own, and events do not tell which service they are of. */
export const polar: Connector = {
  provider: 'polar',
  eventTypes: EVENT_TYPES,
  verify: verifyPolar,
  envelope(body, headers): Envelope {
    if (!isObject(body)) throw new EventProblem('the body must be a JSON object');
    const type = textAt(body, 'type');
    const object = objectAt(body, 'data');
    const customer = type.startsWith('customer.')
      ? maybeText(object, 'id')
      : maybeText(object, 'customer_id');
    return { eventId: headerOf(headers, 'webhook-id'), type, customer };
  },
  read(body, { type }): Reading {
    if (!isObject(body)) throw new EventProblem('the body must be a JSON object');
    const at = instantAt(body, 'timestamp');
    const head = { at: new Date(at), mode: null };
    const reader = Object.hasOwn(EVENT_READERS, type) ? EVENT_READERS[type] : undefined;
    if (!reader) return { ...head, ignored: 'type_not_used' };
    const facts = reader(objectAt(body, 'data'), at);
    return facts.length > 0 ? { ...head, facts } : { ...head, ignored: 'says_nothing' };
  },
};
