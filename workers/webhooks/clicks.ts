import { clickRecord, shownFields } from '../../core/clicks/click-record.ts';
import type { ClickRecord } from '../../core/clicks/field-names.ts';
import type { Enricher } from '../../core/enrich/enrich.ts';
import type { ClickEvent } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import { formatInstant, NANOS_PER_MICRO } from '../../core/time/timestamps.ts';
import { deliveryBody, deliveryId } from '../../core/webhooks/delivery.ts';
import { CLICK_EVENT } from '../../core/webhooks/event-types.ts';
import { passesFilter, subjectsOf } from '../../core/webhooks/filter.ts';
import { folderAt, type LinkFolders } from '../../sql/webhooks/link-folders.ts';
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
  click: ClickRecord;
  /** Time of the click, microseconds since the epoch. */
  clickedAt: number;
};

/**
 * Yields the deliveries of a range: each click of a person, for each webhook of its workspace that subscribed to clicks
 * before it and whose filter it passes. Malformed events are dead letters of the store's lane.
 *
 * @param folders of the links of {@link linksInFolders}, by link
 * @param ordinals by stream id; clicks of a stream that is not registered are dead letters too
 */
export function* clickDeliveries(
  range: Range,
  subscriptions: Subscriptions,
  ordinals: ReadonlyMap<string, number>,
  folders: ReadonlyMap<string, LinkFolders>,
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
      const found = folders.get(made.click.link_id ?? '');
      const folder = found && folderAt(found, event.ts);
      const subjects = subjectsOf(CLICK_EVENT, made.click, folder ? [folder] : []);
      for (const webhook of webhooks) {
        if (!passesFilter(webhook.filter, subjects)) continue;
        yield { id: deliveryId(webhook.id, made.eventId), webhook, ...made };
      }
    }
  }
}

/** Returns the links of the range's clicks in workspaces with a webhook that gets the clicks of some folders. */
export function linksInFolders(range: Range, { clicksByFolder }: Subscriptions, decode: Decode): string[] {
  if (clicksByFolder.size === 0) return [];
  const links = new Set<string>();
  for (const batch of range.batches) {
    for (const { event } of decode(batch).events) {
      if (event.kind !== 'click' || !clicksByFolder.has(bytesToUuid(event.workspaceId))) continue;
      links.add(bytesToUuid(event.linkId));
    }
  }
  return [...links];
}

/** Returns the event of a click, or null when a bot made it, it led to no link, or it cannot be enriched. */
function clickEvent(
  click: ClickEvent,
  ordinal: number,
  enricher: Enricher,
): Omit<ClickDelivery, 'id' | 'webhook'> | null {
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
  return { eventId: data.id, body, click: data, clickedAt: click.ts };
}

function enrichedOrNull(click: ClickEvent, enricher: Enricher) {
  try {
    return enricher.enrichClick(click);
  } catch {
    return null; // the store's lane makes it a dead letter
  }
}
