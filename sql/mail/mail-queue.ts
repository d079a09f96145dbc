import type { Language } from '../../core/languages/languages.ts';
import type { MailKind } from '../../core/mail/contents.ts';
import type { Queryable } from '../database/pool.ts';
import { type Claimed, outcomeCounts } from '../deliveries/queue.ts';

/** A mail that this worker attempts, as it was before the claim. */
export type ClaimedMail = Claimed<{
  workspaceId: string | null;
  kind: MailKind;
  recipient: string;
  /** Sealed. */
  content: Buffer;
  attempts: number;
  createdAt: Date;
  expiresAt: Date;
}>;

/** The facts about its workspace and recipient that a mail needs when it is sent. */
export type MailContext = {
  /** Null: of an account. */
  workspaceName: string | null;
  timeZone: string | null;
  logo: Buffer | null;
  /** The language of the workspace, or of an account the one of all its workspaces. Null: none, or several. */
  language: Language | null;
  /** Whether the recipient wants no mail of the workspace. */
  isUnsubscribed: boolean;
  /** Whether a member with a password has this address. */
  hasPassword: boolean;
  /** Whether the address is in a program of the workspace. */
  isAffiliate: boolean;
};

/** Returns the facts that a mail needs when it is sent. */
export async function mailContext(
  db: Queryable,
  { workspaceId, recipient }: Pick<ClaimedMail, 'workspaceId' | 'recipient'>,
): Promise<MailContext> {
  const { rows } = await db.query<MailContext>(
    `SELECT w.name AS "workspaceName", w.time_zone AS "timeZone", w.logo,
       coalesce(w.language, (SELECT min(o.language) FROM members m JOIN workspaces o ON o.id = m.workspace_id
         WHERE $1::uuid IS NULL AND m.email = $2 AND m.removed_at IS NULL
         HAVING count(DISTINCT coalesce(o.language, 'en')) = 1)) AS language,
       EXISTS (SELECT FROM mail_unsubscribes u WHERE u.workspace_id = $1 AND u.email = $2) AS "isUnsubscribed",
       EXISTS (SELECT FROM members m WHERE m.email = $2 AND m.removed_at IS NULL AND m.password_hash IS NOT NULL)
         AS "hasPassword",
       EXISTS (SELECT FROM applications a WHERE a.workspace_id = $1 AND a.email = $2 AND a.status = 'approved')
         AS "isAffiliate"
     FROM (VALUES (1)) AS one LEFT JOIN workspaces w ON w.id = $1::uuid`,
    [workspaceId, recipient],
  );
  if (!rows[0]) throw new Error('PostgreSQL returned no row for a SELECT of one value');
  return rows[0];
}

/** State of a mail after an attempt. Times are milliseconds since the epoch. */
export type MailState = {
  status: 'pending' | 'delivered' | 'failed' | 'canceled';
  attempts: number;
  error: string | null;
  nextAttemptAt: number | null;
  deliveredAt: number | null;
};

/** Saves the outcome of an attempt. Its content goes once the mail is over. Returns whether it counts. */
export async function saveMail(
  db: Queryable,
  { id, attempts: before }: Pick<ClaimedMail, 'id' | 'attempts'>,
  { status, attempts, error, nextAttemptAt, deliveredAt }: MailState,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE mails AS delivery SET status = $3, attempts = $4, error = $5,
       next_attempt_at = to_timestamp($6::float8 / 1000), delivered_at = to_timestamp($7::float8 / 1000),
       content = CASE WHEN $3 = 'pending' THEN content END
     WHERE id = $1 AND ${outcomeCounts('$3', '$2')}`,
    [id, before, status, attempts, error, nextAttemptAt, deliveredAt],
  );
  return rowCount === 1;
}

/** Deletes a mail that is not sent: its address has no account, so nothing of it is kept. */
export async function dropMail(db: Queryable, id: string): Promise<void> {
  await db.query('DELETE FROM mails WHERE id = $1', [id]);
}

/** Fails the mails whose time to be attempted is over, whether this process sends mail or not. Returns how many. */
export async function failExpiredMails(db: Queryable, now: number): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE mails SET status = 'failed', next_attempt_at = NULL, content = NULL,
       error = coalesce(error, 'no mail server accepted it in time')
     WHERE status = 'pending' AND expires_at <= to_timestamp($1::float8 / 1000)`,
    [now],
  );
  return rowCount ?? 0;
}

/** Returns when the oldest pending mail was written, in microseconds since the epoch; null: none waits. */
export async function oldestPendingMail(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ at: number | null }>(
    `SELECT (extract(epoch FROM min(created_at)) * 1000000)::float8 AS at FROM mails WHERE status = 'pending'`,
  );
  return rows[0]?.at ?? null;
}
