import type { Queryable } from '../database/pool.ts';

/** A visitor's email, user id, or both. */
export type IdentityReport = {
  workspaceId: string;
  visitorId: string;
  /** Lower case. */
  email: string | null;
  externalUserId: string | null;
  /** Reported with a secret key. Otherwise a page reported it, which anyone can fake. */
  byServer: boolean;
  /** Microseconds. */
  ts: number;
};

/**
 * Stores the emails and users of visitors. The external user id of an email is the newest one reported with it; the
 * newest one of a server is stored beside it. Leaves out reports of unknown workspaces.
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
type UserReport = Omit<IdentityReport, 'email' | 'externalUserId'> & { user: string };

async function upsertUsers(transaction: Queryable, reports: readonly UserReport[]): Promise<void> {
  const newest = new Map<string, UserReport & { firstTs: number }>();
  for (const report of [...reports].sort((a, b) => a.ts - b.ts)) {
    const key = `${report.workspaceId}/${report.visitorId}/${report.user}`;
    const known = newest.get(key);
    newest.set(key, {
      ...report,
      byServer: report.byServer || known?.byServer === true,
      firstTs: known?.firstTs ?? report.ts,
    });
  }
  const rows = [...newest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report);
  if (rows.length === 0) return;
  await transaction.query(
    `INSERT INTO visitor_users AS known (workspace_id, visitor_id, external_user_id, by_server, first_ts, last_ts)
     SELECT workspace.id, report.visitor_id, report.external_user_id, report.by_server, report.first_ts,
       report.last_ts
     FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::boolean[], $5::bigint[], $6::bigint[]) WITH ORDINALITY
       AS report (workspace_id, visitor_id, external_user_id, by_server, first_ts, last_ts, position)
     JOIN workspaces AS workspace ON workspace.id = report.workspace_id
     ORDER BY report.position
     ON CONFLICT (workspace_id, visitor_id, external_user_id) DO UPDATE
       SET first_ts = least(known.first_ts, EXCLUDED.first_ts), last_ts = greatest(known.last_ts, EXCLUDED.last_ts),
           by_server = known.by_server OR EXCLUDED.by_server`,
    [
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.visitorId),
      rows.map((row) => row.user),
      rows.map((row) => row.byServer),
      rows.map((row) => row.firstTs),
      rows.map((row) => row.ts),
    ],
  );
}

const NEWER = (column: string) => `CASE WHEN EXCLUDED.last_ts >= known.last_ts
  THEN coalesce(EXCLUDED.${column}, known.${column}) ELSE coalesce(known.${column}, EXCLUDED.${column}) END`;

async function upsertEmails(transaction: Queryable, reports: readonly EmailReport[]): Promise<void> {
  const merged = new Map<string, EmailReport & { serverUserId: string | null; firstTs: number }>();
  for (const report of [...reports].sort((a, b) => a.ts - b.ts)) {
    const key = `${report.workspaceId}/${report.visitorId}/${report.email}`;
    const known = merged.get(key);
    merged.set(key, {
      ...report,
      externalUserId: report.externalUserId ?? known?.externalUserId ?? null,
      serverUserId: (report.byServer ? report.externalUserId : null) ?? known?.serverUserId ?? null,
      firstTs: known?.firstTs ?? report.ts,
    });
  }
  const rows = [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report);
  if (rows.length === 0) return;
  await transaction.query(
    `INSERT INTO identities AS known (workspace_id, visitor_id, email, external_user_id, server_user_id, first_ts,
       last_ts)
     SELECT workspace.id, report.visitor_id, report.email, report.external_user_id, report.server_user_id,
       report.first_ts, report.last_ts
     FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[]) WITH ORDINALITY
       AS report (workspace_id, visitor_id, email, external_user_id, server_user_id, first_ts, last_ts, position)
     JOIN workspaces AS workspace ON workspace.id = report.workspace_id
     ORDER BY report.position
     ON CONFLICT (workspace_id, visitor_id, email) DO UPDATE
       SET first_ts = least(known.first_ts, EXCLUDED.first_ts),
           last_ts = greatest(known.last_ts, EXCLUDED.last_ts),
           external_user_id = ${NEWER('external_user_id')}, server_user_id = ${NEWER('server_user_id')}`,
    [
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.visitorId),
      rows.map((row) => row.email),
      rows.map((row) => row.externalUserId),
      rows.map((row) => row.serverUserId),
      rows.map((row) => row.firstTs),
      rows.map((row) => row.ts),
    ],
  );
}
