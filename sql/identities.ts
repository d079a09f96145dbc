import type { Queryable } from './pool.ts';

/** A visitor gave an email, a user id, or both. */
export type IdentityReport = {
  workspaceId: string;
  visitorId: string;
  /** Lower case. */
  email: string | null;
  externalUserId: string | null;
  /** Microseconds. */
  ts: number;
};

/**
 * Takes in which emails and users visitors gave. The external user id of an email is the newest that came with it. Reports
 * of a workspace that does not exist are left out.
 */
export async function upsertIdentities(
  transaction: Queryable,
  reports: readonly IdentityReport[],
): Promise<void> {
  const withEmail = reports.flatMap(({ email, ...report }) => (email === null ? [] : { email, ...report }));
  const users = reports.flatMap(({ email, externalUserId: user, ...report }) =>
    email === null && user !== null ? { user, ...report } : [],
  );
  await upsertEmails(transaction, withEmail);
  await upsertUsers(transaction, users);
}

type EmailReport = IdentityReport & { email: string };
type UserReport = Pick<IdentityReport, 'workspaceId' | 'visitorId' | 'ts'> & { user: string };

async function upsertUsers(transaction: Queryable, reports: readonly UserReport[]): Promise<void> {
  const newest = new Map<string, UserReport>();
  for (const report of [...reports].sort((a, b) => a.ts - b.ts)) {
    newest.set(`${report.workspaceId}/${report.visitorId}/${report.user}`, report);
  }
  const rows = [...newest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report);
  if (rows.length === 0) return;
  await transaction.query(
    `INSERT INTO visitor_users AS known (workspace_id, visitor_id, external_user_id, last_ts)
     SELECT workspace.id, report.visitor_id, report.external_user_id, report.last_ts
     FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[]) WITH ORDINALITY
       AS report (workspace_id, visitor_id, external_user_id, last_ts, position)
     JOIN workspaces AS workspace ON workspace.id = report.workspace_id
     ORDER BY report.position
     ON CONFLICT (workspace_id, visitor_id, external_user_id) DO UPDATE
       SET last_ts = greatest(known.last_ts, EXCLUDED.last_ts)`,
    [
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.visitorId),
      rows.map((row) => row.user),
      rows.map((row) => row.ts),
    ],
  );
}

async function upsertEmails(transaction: Queryable, reports: readonly EmailReport[]): Promise<void> {
  const merged = new Map<string, EmailReport & { firstTs: number }>();
  for (const report of [...reports].sort((a, b) => a.ts - b.ts)) {
    const key = `${report.workspaceId}/${report.visitorId}/${report.email}`;
    const known = merged.get(key);
    merged.set(key, {
      ...report,
      externalUserId: report.externalUserId ?? known?.externalUserId ?? null,
      firstTs: known?.firstTs ?? report.ts,
    });
  }
  const rows = [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report);
  if (rows.length === 0) return;
  await transaction.query(
    `INSERT INTO identities AS known (workspace_id, visitor_id, email, external_user_id, first_ts, last_ts)
     SELECT workspace.id, report.visitor_id, report.email, report.external_user_id, report.first_ts, report.last_ts
     FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]) WITH ORDINALITY
       AS report (workspace_id, visitor_id, email, external_user_id, first_ts, last_ts, position)
     JOIN workspaces AS workspace ON workspace.id = report.workspace_id
     ORDER BY report.position
     ON CONFLICT (workspace_id, visitor_id, email) DO UPDATE
       SET first_ts = least(known.first_ts, EXCLUDED.first_ts),
           last_ts = greatest(known.last_ts, EXCLUDED.last_ts),
           external_user_id = CASE WHEN EXCLUDED.last_ts >= known.last_ts
             THEN coalesce(EXCLUDED.external_user_id, known.external_user_id)
             ELSE coalesce(known.external_user_id, EXCLUDED.external_user_id) END`,
    [
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.visitorId),
      rows.map((row) => row.email),
      rows.map((row) => row.externalUserId),
      rows.map((row) => row.firstTs),
      rows.map((row) => row.ts),
    ],
  );
}

/** Whose clicks may have led to an order. */
export type Buyer = { workspaceId: string; visitorId: string | null; email: string | null };

/**
 * The visitors who are one person with each buyer: the buyer's own visitor, and every visitor that gave an email
 * which the buyer's visitor gave or the order carries. One hop: the other emails of those visitors join nobody.
 *
 * @returns for each buyer, in the given order, distinct visitor ids
 */
export async function visitorsOfBuyers(db: Queryable, buyers: readonly Buyer[]): Promise<string[][]> {
  const { rows } = await db.query<{ position: number; visitor_id: string }>(
    `WITH buyer AS (
       SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[]) WITH ORDINALITY
         AS buyer (workspace_id, visitor_id, email, position)
     ), address AS (
       SELECT position, workspace_id, email FROM buyer WHERE email IS NOT NULL
       UNION
       SELECT buyer.position, buyer.workspace_id, own.email FROM buyer
         JOIN identities AS own ON own.workspace_id = buyer.workspace_id AND own.visitor_id = buyer.visitor_id
     )
     SELECT position, visitor_id FROM buyer WHERE visitor_id IS NOT NULL
     UNION
     SELECT address.position, other.visitor_id FROM address
       JOIN identities AS other ON other.workspace_id = address.workspace_id AND other.email = address.email`,
    [
      buyers.map((buyer) => buyer.workspaceId),
      buyers.map((buyer) => buyer.visitorId),
      buyers.map((buyer) => buyer.email),
    ],
  );
  const visitors: string[][] = buyers.map(() => []);
  for (const row of rows) visitors[row.position - 1]?.push(row.visitor_id);
  return visitors;
}
