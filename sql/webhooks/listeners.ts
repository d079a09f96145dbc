import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';
import { bumpWebhookVersion } from './webhooks.ts';

/**
 * A listener: a program, such as `hoplog listen`, that gets events over a stream of the API. Its events wait in
 * PostgreSQL until it has acknowledged them. They go with a listener that was away for five minutes.
 */
export type Listener = { id: string; events: string[]; secret: Buffer };

/** An event on its way to a listener. */
export type ListenerEvent = { listenerId: string; eventId: string; body: string };

/** How long a listener may be away. As the guide says. */
const AWAY = `interval '5 minutes'`;
/**
 * How long events of a listener that seems present wait: longer than the server's kernel may take to notice that the
 * network of a listener is gone (15.4 minutes with Linux's `tcp_retries2`), and the five minutes after it.
 */
const WAIT = `interval '21 minutes'`;

/** Rows of one statement. */
const CHUNK = 5_000;

const IS_PRESENT = `seen_at > clock_timestamp() - ${AWAY}`;

/** Creates a listener, or returns null when the workspace, which is locked, has `most` of them. */
export async function createListener(
  tx: Queryable,
  workspaceId: string,
  { events, secret, most }: { events: readonly string[]; secret: Buffer; most: number },
): Promise<Listener | null> {
  const { rows } = await tx.query<Listener>(
    `INSERT INTO webhook_listeners (id, workspace_id, events, secret, active_since, seen_at)
     SELECT $2, $1, $3, $4, clock_timestamp(), clock_timestamp()
     WHERE (SELECT count(*) FROM webhook_listeners WHERE workspace_id = $1 AND ${IS_PRESENT}) < $5
     RETURNING id, events, secret`,
    [workspaceId, uuidv7(), events, secret, most],
  );
  if (rows[0]) await bumpWebhookVersion(tx);
  return rows[0] ?? null;
}

/**
 * Returns a listener that has come back, or null when it was away for too long. Events up to `after` are acknowledged.
 */
export async function resumeListener(
  db: Queryable,
  workspaceId: string,
  id: string,
  after: string,
): Promise<Listener | null> {
  const { rows } = await db.query<Listener>(
    `WITH back AS (
       UPDATE webhook_listeners SET seen_at = clock_timestamp()
       WHERE id = $2 AND workspace_id = $1 AND ${IS_PRESENT} RETURNING id, events, secret
     ), acknowledged AS (
       DELETE FROM webhook_listener_events WHERE listener_id IN (SELECT id FROM back) AND id <= $3::bigint
     )
     SELECT * FROM back`,
    [workspaceId, id, after],
  );
  return rows[0] ?? null;
}

/** Notes that a listener is there. @returns false when it is gone */
export async function sawListener(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'UPDATE webhook_listeners SET seen_at = clock_timestamp() WHERE id = $1',
    [id],
  );
  return rowCount === 1;
}

/** Returns the next events of a listener, in the order in which they were committed. */
export async function nextListenerEvents(
  db: Queryable,
  listenerId: string,
  after: string,
  limit: number,
): Promise<{ id: string; event_id: string; body: string }[]> {
  const { rows } = await db.query<{ id: string; event_id: string; body: string }>({
    name: 'next_listener_events',
    text: `SELECT id::text AS id, event_id, body FROM webhook_listener_events
      WHERE listener_id = $1 AND id > $2::bigint ORDER BY webhook_listener_events.id LIMIT $3`,
    values: [listenerId, after, limit],
  });
  return rows;
}

/**
 * Adds events of listeners that are still there. It locks the listeners until the transaction ends, so that ids are in
 * the order of commits: a stream that has read an id has read all before it.
 */
export async function addListenerEvents(tx: Queryable, events: readonly ListenerEvent[]): Promise<void> {
  if (events.length === 0) return;
  const { rows } = await tx.query<{ id: string }>(
    'SELECT id FROM webhook_listeners WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE',
    [[...new Set(events.map((event) => event.listenerId))]],
  );
  const present = new Set(rows.map(({ id }) => id));
  const wanted = events.filter((event) => present.has(event.listenerId));
  for (let from = 0; from < wanted.length; from += CHUNK) {
    const chunk = wanted.slice(from, from + CHUNK);
    await tx.query(
      `INSERT INTO webhook_listener_events (listener_id, event_id, body)
       SELECT listener_id, event_id, body
       FROM unnest($1::uuid[], $2::uuid[], $3::text[]) WITH ORDINALITY AS given (listener_id, event_id, body, nth)
       ORDER BY nth ON CONFLICT (listener_id, event_id) DO NOTHING`,
      [chunk.map((row) => row.listenerId), chunk.map((row) => row.eventId), chunk.map((row) => row.body)],
    );
  }
}

/** Deletes listeners that are gone, and events that have waited for too long. @returns the number of rows */
export async function deleteGoneListeners(tx: Queryable): Promise<number> {
  const { rowCount: old } = await tx.query(
    `DELETE FROM webhook_listener_events WHERE made_at < clock_timestamp() - ${WAIT}`,
  );
  const { rowCount: gone } = await tx.query(`DELETE FROM webhook_listeners WHERE NOT ${IS_PRESENT}`);
  if (gone) await bumpWebhookVersion(tx);
  return (old ?? 0) + (gone ?? 0);
}
