import { CLICK_BATCH } from '../../../../core/webhooks/batch.ts';
import { EVENT_TYPES, EVENTS, type EventType, TEST_EVENT } from '../../../../core/webhooks/event-types.ts';

const isKnown = (type: string): type is EventType => Object.hasOwn(EVENTS, type);

/** Label of an event type; unknown types as they are. */
export const eventName = (type: string) =>
  type === TEST_EVENT
    ? 'Test'
    : type === CLICK_BATCH
      ? 'Clicks together'
      : isKnown(type)
        ? EVENTS[type].label
        : type;

/** `Clicks, Sales`, in the form's order. */
export const eventNames = (types: readonly string[]): string =>
  [...EVENT_TYPES.filter((type) => types.includes(type)), ...types.filter((type) => !isKnown(type))]
    .map(eventName)
    .join(', ');

/** The types of deliveries. */
export const DELIVERY_TYPES: readonly string[] = [...EVENT_TYPES, CLICK_BATCH, TEST_EVENT];
