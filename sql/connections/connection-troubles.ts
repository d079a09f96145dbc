import type { Provider } from '../../core/connections/providers.ts';
import type { Queryable } from '../database/pool.ts';

/**
 * A problem of a connection. `incomplete`: no signing secret for a day. `refused`: calls are refused for their
 * signature, and no event has arrived since. `silent`: no event for a long time. `waiting`: events are not processed.
 * `failed`: events of the last day could not be processed.
 */
export type ConnectionTrouble = {
  workspace: string;
  id: string;
  provider: Provider;
  trouble: 'incomplete' | 'refused' | 'silent' | 'waiting' | 'failed';
  /** How many events wait or have failed; 0 for other problems. */
  events: number;
};

/** Days without an event after which a connection with earlier events counts as silent. */
export const SILENT_DAYS = 14;

/** Returns how many connections there are, and up to `most` problems, the oldest connection first. */
export async function connectionTroubles(
  db: Queryable,
  most: number,
): Promise<{ connected: number; troubles: ConnectionTrouble[] }> {
  const { rows: counted } = await db.query<{ connected: number }>(
    'SELECT count(*)::int AS connected FROM connections WHERE deleted_at IS NULL',
  );
  const connected = counted[0]?.connected ?? 0;
  if (connected === 0) return { connected, troubles: [] };
  const { rows } = await db.query<ConnectionTrouble>(
    `SELECT w.slug AS workspace, c.id, c.provider, found.trouble, found.events FROM connections c
       JOIN workspaces w ON w.id = c.workspace_id
       CROSS JOIN LATERAL (
         SELECT 'incomplete' AS trouble, 0 AS events
         WHERE c.signing_secret IS NULL AND c.updated_at < now() - interval '1 day'
         UNION ALL
         SELECT 'refused', 0 WHERE c.refused_at > coalesce(c.last_event_at, '-infinity')
         UNION ALL
         SELECT 'silent', 0 WHERE c.signing_secret IS NOT NULL AND CASE WHEN c.last_event_at IS NULL
           THEN c.updated_at < now() - interval '1 day' AND c.refused_at IS NULL
           ELSE c.last_event_at < now() - make_interval(days => $2) END
         UNION ALL
         SELECT 'waiting', count(*)::int FROM connection_events e WHERE e.connection_id = c.id AND e.status = 'pending'
           AND e.due_at < now() AND e.received_at < now() - interval '10 minutes' HAVING count(*) > 0
         UNION ALL
         SELECT 'failed', count(*)::int FROM connection_events e WHERE e.connection_id = c.id AND e.status = 'failed'
           AND e.received_at > now() - interval '1 day' HAVING count(*) > 0) AS found
     WHERE c.deleted_at IS NULL ORDER BY c.created_at, c.id LIMIT $1`,
    [most, SILENT_DAYS],
  );
  return { connected, troubles: rows };
}
