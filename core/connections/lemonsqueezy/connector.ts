import { createHash } from 'node:crypto';
import { type Connector, type Envelope, EventProblem, type Reading } from '../connector.ts';
import { isObject, maybeText, objectAt, textAt } from '../fields.ts';
import { instantAt } from '../instants.ts';
import { EVENT_READERS, EVENT_TYPES, type LemonSqueezyObject } from './event-types.ts';
import { verifyLemonSqueezy } from './signature.ts';

/** Lemon Squeezy. */
export const lemonsqueezy: Connector = {
  provider: 'lemonsqueezy',
  eventTypes: EVENT_TYPES,
  verify: verifyLemonSqueezy,
  envelope(body): Envelope {
    const { type, object } = eventOf(body);
    // Events have no id. One that is sent again is the same state of the same object.
    const state = createHash('sha256').update(JSON.stringify(object.attributes)).digest('hex');
    return {
      eventId: `${type}:${object.id}:${state}`,
      type,
      customer: maybeText(object.attributes, 'customer_id'),
    };
  },
  read(body, { type }): Reading {
    const { object } = eventOf(body);
    const at = instantAt(object.attributes, 'updated_at');
    const mode = object.attributes.test_mode === true ? 'test' : 'live';
    const head = { at: new Date(at), mode } as const;
    const reader = Object.hasOwn(EVENT_READERS, type) ? EVENT_READERS[type] : undefined;
    if (!reader) return { ...head, ignored: 'type_not_used' };
    const facts = reader(object, at);
    return facts.length > 0 ? { ...head, facts } : { ...head, ignored: 'says_nothing' };
  },
};

function eventOf(body: unknown): { type: string; object: LemonSqueezyObject } {
  if (!isObject(body)) throw new EventProblem('the body must be a JSON object');
  const meta = objectAt(body, 'meta');
  const data = objectAt(body, 'data');
  const custom = isObject(meta.custom_data) ? meta.custom_data : null;
  return {
    type: textAt(meta, 'event_name'),
    object: { id: textAt(data, 'id'), attributes: objectAt(data, 'attributes'), custom },
  };
}
