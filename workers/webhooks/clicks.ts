import { clickRecord, shownFields } from '../../core/clicks/click-record.ts';
import type { Enricher } from '../../core/enrich/enrich.ts';
import type { ClickEvent } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import { formatInstant, NANOS_PER_MICRO } from '../../core/time/timestamps.ts';
import { deliveryBody, deliveryId } from '../../core/webhooks/delivery.ts';
import { CLICK_EVENT } from '../../core/webhooks/event-types.ts';
import type { Subscription } from '../../sql/webhooks/subscriptions.ts';
import type { Range } from '../lane/poll-batch.ts';
import type { Decode } from '../lane/prepare.ts';
import type { Subscriptions } from './subscriptions.ts';

/** A click on its way to one webhook. */
export type ClickDelivery = {
  id: string;
  webhook: Subscription;
  eventId: string;
  body: string;
};

/**
 * Yields the deliveries of a range: each click of a person, for each webhook of its workspace that subscribed to clicks
 * before it. Malformed events are dead letters of the store's lane.
 *
 * @param ordinals by stream id; clicks of a stream that is not registered are dead letters too
 */
export function* clickDeliveries(
  range: Range,
  subscriptions: Subscriptions,
  ordinals: ReadonlyMap<string, number>,
  { decode, enricher }: { decode: Decode; enricher: Enricher },
): Generator<ClickDelivery> {
  for (const batch of range.batches) {
    const ordinal = ordinals.get(batch.streamId);
    if (ordinal === undefined) continue;
    for (const { event } of decode(batch).events) {
      if (event.kind !== 'click') continue;
      const webhooks = subscriptions
        .clickSubscribers(bytesToUuid(event.workspaceId))
        .filter((webhook) => webhook.activeSince <= event.ts);
      const made = webhooks.length === 0 ? null : clickEvent(event, ordinal, enricher);
      if (!made) continue;
      for (const webhook of webhooks) yield { id: deliveryId(webhook.id, made.eventId), webhook, ...made };
    }
  }
}

/** Returns the event of a click, or null when a bot made it, it led to no link, or it cannot be enriched. */
function clickEvent(
  click: ClickEvent,
  ordinal: number,
  enricher: Enricher,
): { eventId: string; body: string } | null {
  if (click.linkId.every((byte) => byte === 0)) return null;
  const enriched = enrichedOrNull(click, enricher);
  if (!enriched || enriched.isBot) return null;
  const tsNanos = BigInt(click.ts) * NANOS_PER_MICRO + BigInt(ordinal);
  const data = clickRecord({
    tsNanos,
    ...shownFields(enriched, {
      link_id: bytesToUuid(click.linkId),
      visitor_id: bytesToUuid(click.visitorId),
    }),
  });
  const body = deliveryBody({ id: data.id, type: CLICK_EVENT, created_at: formatInstant(tsNanos, 6), data });
  return { eventId: data.id, body };
}

function enrichedOrNull(click: ClickEvent, enricher: Enricher) {
  try {
    return enricher.enrichClick(click);
  } catch {
    return null; // the store's lane makes it a dead letter
  }
}
