import type { Queryable } from '../database/pool.ts';

/** Visitors that one report named together. */
export type JoinedVisitors = {
  workspaceId: string;
  visitorIds: readonly string[];
  /** Microseconds. */
  ts: number;
};

/** A stored time this much older than a report is renewed. Microseconds. */
const RENEWED_AFTER = 86_400_000_000;

/** Stores which visitors were reported together. Leaves out reports of unknown workspaces. */
export async function joinVisitors(transaction: Queryable, joins: readonly JoinedVisitors[]): Promise<void> {
  const pairs = new Map<string, { workspaceId: string; one: string; other: string; ts: number }>();
  for (const { workspaceId, visitorIds, ts } of joins) {
    for (const one of visitorIds) {
      for (const other of visitorIds) {
        const key = `${workspaceId}/${one}/${other}`;
        if (one !== other)
          pairs.set(key, { workspaceId, one, other, ts: Math.max(ts, pairs.get(key)?.ts ?? 0) });
      }
    }
  }
  // Sorted, so that two lanes never deadlock.
  const rows = [...pairs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pair]) => pair);
  if (rows.length === 0) return;
  await transaction.query(
    `INSERT INTO joined_visitors AS known (workspace_id, visitor_id, other_visitor_id, last_ts)
     SELECT workspace.id, pair.visitor_id, pair.other_visitor_id, pair.last_ts
     FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[]) WITH ORDINALITY
       AS pair (workspace_id, visitor_id, other_visitor_id, last_ts, position)
     JOIN workspaces AS workspace ON workspace.id = pair.workspace_id
     ORDER BY pair.position
     ON CONFLICT (workspace_id, visitor_id, other_visitor_id) DO UPDATE SET last_ts = EXCLUDED.last_ts
       WHERE known.last_ts < EXCLUDED.last_ts - ${RENEWED_AFTER}`,
    [
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.one),
      rows.map((row) => row.other),
      rows.map((row) => row.ts),
    ],
  );
}

/** Most visitors that one visitor joins, the newest. Anyone can report any number by pixel. */
export const MAX_JOINED = 100;

/** Returns the visitors that were reported together with this one, the most recent first. */
export async function reportedTogether(
  db: Queryable,
  workspaceId: string,
  visitorId: string,
): Promise<string[]> {
  const { rows } = await db.query<{ other_visitor_id: string }>(
    `SELECT other_visitor_id FROM joined_visitors WHERE workspace_id = $1 AND visitor_id = $2
     ORDER BY last_ts DESC LIMIT ${MAX_JOINED}`,
    [workspaceId, visitorId],
  );
  return rows.map((row) => row.other_visitor_id);
}
