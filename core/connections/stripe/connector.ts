import { type Connector, type Envelope, EventProblem, type Reading } from '../connector.ts';
import {
  integerAt,
  isObject,
  type Json,
  maybeId,
  maybeObject,
  maybeText,
  objectAt,
  textAt,
} from '../fields.ts';
import { EVENT_READERS, EVENT_TYPES } from './event-types.ts';
import { lookUpPayment } from './lookup.ts';
import { stripePromotionCodes } from './promotion-code.ts';
import { verifyStripe } from './signature.ts';

/** Stripe: payments and subscriptions by its events. */
export const stripe: Connector = {
  provider: 'stripe',
  eventTypes: EVENT_TYPES,
  verify: verifyStripe,
  envelope(body): Envelope {
    if (!isObject(body)) throw new EventProblem('the body must be a JSON object');
    const type = textAt(body, 'type');
    const object = objectOf(body);
    const customer =
      object.object === 'customer'
        ? maybeText(object, 'id')
        : (maybeId(object, 'customer') ?? maybeId(object, 'customer_account'));
    return { eventId: textAt(body, 'id'), type, customer };
  },
  lookUp: lookUpPayment,
  promotionCodes: stripePromotionCodes,
  read(body, { type }): Reading {
    if (!isObject(body)) throw new EventProblem('the body must be a JSON object');
    const at = integerAt(body, 'created') * 1_000;
    // Events of Stripe Connect name the account that they are of.
    const account = maybeText(body, 'account');
    const head = { at: new Date(at), mode: body.livemode === false ? 'test' : 'live', account } as const;
    const reader = Object.hasOwn(EVENT_READERS, type) ? EVENT_READERS[type] : undefined;
    if (!reader) return { ...head, ignored: 'type_not_used' };
    const facts = reader(objectOf(body), at, maybeObject(objectAt(body, 'data'), 'previous_attributes'));
    return facts.length > 0 ? { ...head, facts } : { ...head, ignored: 'says_nothing' };
  },
};

const objectOf = (event: Json): Json => objectAt(objectAt(event, 'data'), 'object');
