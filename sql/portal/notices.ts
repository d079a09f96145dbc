import { uuidv7 } from '../../core/ids.ts';
import type { Language } from '../../core/languages/languages.ts';
import type { AffiliateNotice } from '../../core/mail/contents.ts';
import type { Queryable } from '../database/pool.ts';

/** What to tell an affiliate. */
export type NewNotice = {
  enrollmentId: string;
  /** Positive. */
  amountMinor: number;
  currency: string;
};

/** An address ends further mail of the workspace by the link in one. */
const IS_UNSUBSCRIBED =
  'EXISTS (SELECT FROM mail_unsubscribes u WHERE u.workspace_id = a.workspace_id AND u.email = a.email)';

/**
 * Writes what affiliates are to be told, in the transaction that causes it: both commit or neither does. Referrers
 * without an account in the portal, and those who want no mail, are left out.
 */
export async function noteForAffiliates(
  tx: Queryable,
  kind: AffiliateNotice,
  notices: readonly NewNotice[],
  now: Date,
): Promise<void> {
  if (notices.length === 0) return;
  await tx.query(
    `INSERT INTO affiliate_notices (id, workspace_id, enrollment_id, kind, amount_minor, currency, created_at, due_at)
     SELECT n.id, a.workspace_id, a.enrollment_id, $1, n.amount_minor, n.currency, $2, greatest($2,
       CASE WHEN $1 = 'refund' THEN (SELECT max(settled_at) + interval '1 hour' FROM affiliate_notices o
         WHERE o.enrollment_id = a.enrollment_id AND o.kind = 'refund') END)
     FROM unnest($3::uuid[], $4::uuid[], $5::bigint[], $6::text[]) AS n (id, enrollment_id, amount_minor, currency)
     JOIN applications a ON a.enrollment_id = n.enrollment_id AND a.notices AND NOT ${IS_UNSUBSCRIBED}`,
    [
      kind,
      now,
      notices.map(() => uuidv7()),
      notices.map(({ enrollmentId }) => enrollmentId),
      notices.map(({ amountMinor }) => amountMinor),
      notices.map(({ currency }) => currency),
    ],
  );
}

/**
 * Writes that these commissions were earned, for the affiliates for whom it is the first sale. Call it once they are
 * stored.
 */
export async function noteFirstSales(
  tx: Queryable,
  earned: readonly (NewNotice & { commissionId: string })[],
  now: Date,
): Promise<void> {
  if (earned.length === 0) return;
  const { rows } = await tx.query<{ enrollment_id: string }>(
    `SELECT enrollment_id FROM unnest($1::uuid[]) AS given (enrollment_id)
     WHERE NOT EXISTS (SELECT FROM commissions c
       WHERE c.enrollment_id = given.enrollment_id AND c.kind = 'sale' AND c.id <> ALL ($2::uuid[]))`,
    [earned.map(({ enrollmentId }) => enrollmentId), earned.map(({ commissionId }) => commissionId)],
  );
  const first = new Set(rows.map(({ enrollment_id }) => enrollment_id));
  await noteForAffiliates(
    tx,
    'first_sale',
    earned.filter(({ enrollmentId }) => first.has(enrollmentId)),
    now,
  );
}

/** Returns affiliates who are to be told something, those who wait longest first. */
export async function affiliatesToTell(db: Queryable, now: number, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ enrollment_id: string }>(
    `SELECT enrollment_id FROM affiliate_notices WHERE settled_at IS NULL AND due_at <= to_timestamp($1::float8 / 1000)
     GROUP BY enrollment_id ORDER BY min(due_at) LIMIT $2`,
    [now, limit],
  );
  return rows.map(({ enrollment_id }) => enrollment_id);
}

/** Who is told. */
export type ToldAffiliate = {
  workspace_id: string;
  email: string;
  language: Language;
  program: string;
  code: string;
};

/** One thing to tell: refunds in a currency are one. */
export type DueNotice = { kind: AffiliateNotice; amount_minor: number; currency: string; count: number };

/**
 * Settles what is to be told to an affiliate now, and returns it: the caller queues the mails in this transaction. Of
 * two calls one gets it. Nothing older than a day is told, as when no mail server was set.
 *
 * @param now milliseconds since the epoch
 * @returns null: the account is gone, or wants no mail
 */
export async function settleNotices(
  tx: Queryable,
  enrollmentId: string,
  now: number,
): Promise<{ to: ToldAffiliate; notices: DueNotice[] } | null> {
  const { rows } = await tx.query<ToldAffiliate & { wants: boolean }>(
    `SELECT a.workspace_id, a.email, a.language, d.name AS program, p.code, a.notices AND NOT ${IS_UNSUBSCRIBED} AS wants
     FROM applications a JOIN programs p ON p.id = a.program_id JOIN destinations d ON d.id = p.destination_id
     WHERE a.enrollment_id = $1 FOR NO KEY UPDATE OF a`,
    [enrollmentId],
  );
  const told = await tx.query<{ settled: string }>(
    "SELECT 1 FROM affiliate_notices WHERE enrollment_id = $1 AND kind = 'first_sale' AND settled_at IS NOT NULL",
    [enrollmentId],
  );
  const due = await tx.query<DueNotice>(
    `WITH settled AS (
       UPDATE affiliate_notices SET settled_at = to_timestamp($2::float8 / 1000)
       WHERE enrollment_id = $1 AND settled_at IS NULL AND due_at <= to_timestamp($2::float8 / 1000)
       RETURNING id, kind, amount_minor, currency, created_at)
     SELECT kind, sum(amount_minor)::bigint AS amount_minor, currency, count(*)::integer AS count FROM settled
     WHERE created_at > to_timestamp($2::float8 / 1000) - interval '1 day'
     GROUP BY kind, currency, CASE WHEN kind <> 'refund' THEN id END ORDER BY min(id::text)`,
    [enrollmentId, now],
  );
  const [found] = rows;
  if (!found?.wants) return null;
  const { wants: _, ...to } = found;
  let isTold = told.rowCount !== 0;
  const notices = due.rows.filter(({ kind }) => {
    if (kind !== 'first_sale') return true;
    // Two sales at the same time may both have been the first one.
    const isFirst = !isTold;
    isTold = true;
    return isFirst;
  });
  return { to, notices };
}

/** Sets whether an affiliate wants these mails. One who wants them also ends an earlier `List-Unsubscribe`. */
export async function setNotices(
  tx: Queryable,
  { enrollmentId, email }: { enrollmentId: string; email: string },
  wants: boolean,
): Promise<void> {
  const { rows } = await tx.query<{ workspace_id: string }>(
    'UPDATE applications SET notices = $3 WHERE enrollment_id = $1 AND email = $2 RETURNING workspace_id',
    [enrollmentId, email, wants],
  );
  if (wants && rows[0])
    await tx.query('DELETE FROM mail_unsubscribes WHERE workspace_id = $1 AND email = $2', [
      rows[0].workspace_id,
      email,
    ]);
}
