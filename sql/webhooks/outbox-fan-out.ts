import { isDeepStrictEqual } from 'node:util';
import { deliveryBody, deliveryId } from '../../core/webhooks/delivery.ts';
import type { Queryable } from '../database/pool.ts';
import { toRecord } from '../links/link-record.ts';
import type { Link } from '../links/links.ts';
import { addDeliveries, type NewDelivery } from './delivery-queue.ts';
import { addListenerEvents, type ListenerEvent } from './listeners.ts';

/** Returns the webhooks that get an event of a workspace. `at`: when it happened, microseconds since the epoch. */
export type Subscribers = (
  workspaceId: string,
  event: { type: string; data: unknown; isTest: boolean },
  at: number,
) => readonly { id: string; isListener: boolean }[];

type OutboxRow = {
  id: string;
  workspace_id: string;
  type: string;
  data: unknown;
  created_at: number;
  link_id: string | null;
  is_test: boolean;
};

/** `data` of an event of a link, as the triggers of `links` write it. */
type ChangedLink = { link: Link; previous: Link | null };

/** Deliveries in one statement, at most. */
const CHUNK = 1_000;

/**
 * Removes the oldest events from the outbox and inserts their deliveries, due at once. One transaction, so a crash
 * leaves the event in the outbox. Events that another worker has locked are skipped.
 *
 * @param readSubscribers called once events are locked: it must return every webhook that is older than they are
 * @param shortUrl origin of short links without a domain
 * @param createdAt returns the time of each delivery, in microseconds, each unique
 * @returns the number of events and of deliveries
 */
export async function fanOutEvents(
  tx: Queryable,
  limit: number,
  now: number,
  readSubscribers: () => Promise<Subscribers>,
  shortUrl: string,
  createdAt: () => number,
): Promise<{ events: number; deliveries: number }> {
  const { rows } = await tx.query<OutboxRow>(
    `DELETE FROM webhook_outbox WHERE id IN (
       SELECT id FROM webhook_outbox ORDER BY created_at, id LIMIT $1 FOR UPDATE SKIP LOCKED)
     RETURNING id, workspace_id, type, data, link_id, is_test, (extract(epoch FROM created_at) * 1000000)::bigint AS created_at`,
    [limit],
  );
  if (rows.length === 0) return { events: 0, deliveries: 0 };
  const subscribers = await readSubscribers();
  rows.sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
  const listened: ListenerEvent[] = [];
  let made = 0;
  let chunk: NewDelivery[] = [];
  for (const row of rows) {
    const data = row.link_id === null ? row.data : linkData(row.type, row.data as ChangedLink, shortUrl);
    if (data === null) continue;
    const webhooks = subscribers(
      row.workspace_id,
      { type: row.type, data, isTest: row.is_test },
      row.created_at,
    );
    if (webhooks.length === 0) continue;
    const body = deliveryBody({
      id: row.id,
      type: row.type,
      created_at: new Date(Math.floor(row.created_at / 1_000)).toISOString(),
      data,
      ...(row.is_test && { test: true as const }),
    });
    for (const webhook of webhooks) {
      if (webhook.isListener) {
        listened.push({ listenerId: webhook.id, eventId: row.id, body });
        continue;
      }
      chunk.push({
        id: deliveryId(webhook.id, row.id),
        workspaceId: row.workspace_id,
        webhookId: webhook.id,
        eventId: row.id,
        type: row.type,
        body,
        createdAt: createdAt(),
        state: {
          status: 'pending',
          attempts: 0,
          responseStatus: null,
          responseBody: null,
          error: null,
          request: null,
          nextAttemptAt: now,
          deliveredAt: null,
        },
      });
      if (chunk.length === CHUNK) {
        await addDeliveries(tx, chunk);
        made += chunk.length;
        chunk = [];
      }
    }
  }
  await addDeliveries(tx, chunk);
  await addListenerEvents(tx, listened);
  return { events: rows.length, deliveries: made + chunk.length };
}

/** Returns `data` of an event of a link, or null when no field changed but `updated_at`. */
function linkData(type: string, { link, previous }: ChangedLink, shortUrl: string): object | null {
  const record = toRecord(link, shortUrl);
  if (type !== 'link.updated' || !previous) return record;
  const before = toRecord(previous, shortUrl);
  if (isDeepStrictEqual({ ...before, updated_at: '' }, { ...record, updated_at: '' })) return null;
  return { ...record, previous: before };
}
