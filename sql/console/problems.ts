import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** Kinds of problems in a workspace, the worst first. */
export const PROBLEM_KINDS = [
  'dead_letters',
  'webhook_disabled',
  'domain_failing',
  'connection_incomplete',
  'connection_refused',
  'connection_failed',
  'fulfilment_failing',
  'webhook_failing',
  'destination_failing',
  'mail_failing',
  'orders_without_rate',
  'purchases_without_rate',
  'plan_limit_near',
  'payout_waiting',
  'connection_unmatched',
  'connection_silent',
  'domain_pending',
] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

/** A problem in a workspace. */
export type Problem = {
  kind: ProblemKind;
  /** ISO 8601 with microseconds. */
  since: string;
  /** Id of the affected record, such as a webhook; null: not one record. */
  id: string | null;
  /** Name of that record, a currency, or null. */
  name: string | null;
  /** How many records are affected; null: one. Of a plan's limit: percent of it. */
  count: number | null;
  /** The reason in words, or null. */
  reason: string | null;
};

/** Counts stop here, because the number is shown in a sentence. */
const COUNT_LIMIT = 1_000;

const FIELDS = 'kind, since, id, name, count, reason';

const micros = (column: string) => `to_timestamp(${column} / 1000000.0)`;

/** SQL: how long a payout file may stay open. */
const FILE_WAITS = "interval '7 days'";

/** A destination that fails once may have been restarting. */
const FAILURES = 2;

/** SQL: time without any event after which a new connection counts as silent. */
const SILENT_AFTER = "interval '1 day'";

const ofEvents = (kind: ProblemKind, status: string) => `
  SELECT '${kind}', min(e.received_at), c.id, c.provider, count(*), NULL
  FROM connections c CROSS JOIN LATERAL (
    SELECT received_at FROM connection_events e WHERE e.connection_id = c.id AND e.status = '${status}' LIMIT ${COUNT_LIMIT}
  ) AS e
  WHERE c.workspace_id = $1 AND c.deleted_at IS NULL GROUP BY c.id, c.provider`;

const QUERIES = [
  `SELECT 'webhook_disabled', disabled_at, id, url, NULL::bigint, NULL
   FROM webhooks WHERE workspace_id = $1 AND deleted_at IS NULL AND NOT is_active AND disabled_at IS NOT NULL`,
  `SELECT 'webhook_failing', failing_since, id, url, NULL, NULL
   FROM webhooks WHERE workspace_id = $1 AND deleted_at IS NULL AND is_active AND failing_since IS NOT NULL`,
  `SELECT CASE WHEN status = 'pending' THEN 'domain_pending' ELSE 'domain_failing' END,
     coalesce(missing_since, created_at), id, domain, NULL, problem
   FROM domains WHERE workspace_id = $1 AND (status = 'failing' OR missing_since IS NOT NULL
     OR (status = 'pending' AND created_at < now() - interval '1 day'))`,
  `SELECT 'orders_without_rate', ${micros('min(ts)')}, NULL, currency, count(*), NULL
   FROM orders WHERE workspace_id = $1 AND without_rate GROUP BY currency`,
  `SELECT 'purchases_without_rate', min(purchased_at), NULL, currency, count(*), NULL
   FROM purchases WHERE workspace_id = $1 AND without_rate GROUP BY currency`,
  `SELECT CASE WHEN signing_secret IS NULL THEN 'connection_incomplete' ELSE 'connection_silent' END,
     created_at, id, provider, NULL, NULL
   FROM connections WHERE workspace_id = $1 AND deleted_at IS NULL AND last_event_at IS NULL
     AND created_at < now() - ${SILENT_AFTER} AND refused_at IS NULL`,
  `SELECT 'connection_refused', refused_at, id, provider, NULL, NULL
   FROM connections WHERE workspace_id = $1 AND deleted_at IS NULL AND signing_secret IS NOT NULL
     AND refused_at > coalesce(last_event_at, '-infinity')`,
  ofEvents('connection_unmatched', 'unmatched'),
  ofEvents('connection_failed', 'failed'),
  `SELECT 'fulfilment_failing', min(d.created_at), f.id, t.name, count(*), NULL
   FROM fulfilments f JOIN programs p ON p.id = f.program_id JOIN destinations t ON t.id = p.destination_id
     JOIN grant_deliveries d ON d.fulfilment_id = f.id AND d.status IN ('pending', 'failed') AND d.error IS NOT NULL
   WHERE f.workspace_id = $1 AND f.deleted_at IS NULL GROUP BY f.id, t.name`,
  `SELECT 'payout_waiting', x.created_at, x.id, x.format, count(*), NULL
   FROM payout_exports x JOIN payouts p ON p.export_id = x.id AND p.status = 'open'
   WHERE x.workspace_id = $1 AND x.status = 'open' AND x.created_at < now() - ${FILE_WAITS}
   GROUP BY x.id, x.created_at, x.format`,
  `SELECT 'destination_failing', min(failing_since), NULL, host, count(*),
     (array_agg(url || ': ' || error ORDER BY failing_since, url))[1]
   FROM destination_checks WHERE workspace_id = $1 AND failures >= ${FAILURES} GROUP BY host`,
  // Workers look at the usage once an hour.
  `SELECT 'plan_limit_near', since, NULL, name, count, NULL
   FROM problem_alerts WHERE workspace_id = $1 AND kind = 'plan_limit_near' AND state = 'firing'`,
  // Mails of accounts belong to no workspace: the deployment's owner sees that they fail.
  `SELECT 'mail_failing', min(created_at), NULL, NULL, count(*), NULL FROM (
     SELECT created_at FROM mails
     WHERE (workspace_id = $1 OR ($2 AND workspace_id IS NULL)) AND status IN ('pending', 'failed')
       AND error IS NOT NULL AND created_at > now() - interval '1 day' LIMIT ${COUNT_LIMIT}) AS m
   HAVING count(*) > 0`,
  // A problem of the whole deployment: an event that cannot be read names no workspace.
  `SELECT 'dead_letters', min(created_at), NULL, NULL, count(*), NULL
   FROM (SELECT created_at FROM dead_letters WHERE $2 AND replayed_at IS NULL ORDER BY created_at LIMIT ${COUNT_LIMIT}) AS d
   HAVING count(*) > 0`,
];

/**
 * Returns the problems of a workspace, the worst first, then the oldest.
 *
 * @param withDeployment includes events of the whole deployment that could not be stored
 */
export async function listProblems(
  db: Queryable,
  workspaceId: string,
  withDeployment: boolean,
): Promise<Problem[]> {
  const { rows } = await db.query<Problem>({
    name: 'list_problems',
    text: `SELECT kind, ${isoMicros('since')} AS since, id, name, count, reason
      FROM (${QUERIES.join(' UNION ALL ')}) AS problems (${FIELDS})
      ORDER BY array_position($3::text[], kind), problems.since, id LIMIT 200`,
    values: [workspaceId, withDeployment, PROBLEM_KINDS],
  });
  return rows;
}
