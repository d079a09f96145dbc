import type { Provider } from '../../../core/connections/providers.ts';
import type { SentEvent } from '../../../core/connections/sent-event.ts';
import { lemonSqueezyEvents } from './lemonsqueezy-events.ts';
import { paddleEvents } from './paddle-events.ts';
import { polarEvents } from './polar-events.ts';
import { shopifyEvents } from './shopify-events.ts';
import { stripeEvents } from './stripe-events.ts';
import type { Told } from './told.ts';

/** `late`: what the provider tells four days later. */
export type StoryEvents = { events: SentEvent[]; late: SentEvent[] };

const atOnce = (events: SentEvent[]): StoryEvents => ({ events, late: [] });
const EVENTS: Record<Provider, (told: Told) => StoryEvents> = {
  stripe: stripeEvents,
  paddle: (told) => atOnce(paddleEvents(told)),
  lemonsqueezy: (told) => atOnce(lemonSqueezyEvents(told)),
  polar: (told) => atOnce(polarEvents(told)),
  shopify: shopifyEvents,
};

/**
 * Returns a story in the events of its provider, with their own object shapes. Amounts have no tax, so that all of them
 * earns.
 */
export const eventsOf = (told: Told): StoryEvents => EVENTS[told.provider](told);
