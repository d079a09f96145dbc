import type { MailKind } from '../../core/mail/contents.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

export const MAIL_STATUSES = ['pending', 'delivered', 'failed', 'canceled'] as const;
export type MailStatus = (typeof MAIL_STATUSES)[number];

/** A mail as it is shown. Instants are ISO 8601 with microseconds. */
export type Mail = {
  /** Also the cursor of the list, newest first. */
  id: string;
  kind: MailKind;
  recipient: string;
  status: MailStatus;
  attempts: number;
  error: string | null;
  next_attempt_at: string | null;
  created_at: string;
  delivered_at: string | null;
};

/** Returns the mails of a workspace, newest first. @param page.before an id: older ones only */
export async function listMails(
  db: Queryable,
  workspaceId: string,
  page: { status: MailStatus | null; before: string | null; limit: number },
): Promise<Mail[]> {
  const { rows } = await db.query<Mail>(
    `SELECT id, kind, recipient, status, attempts, error, ${isoMicros('next_attempt_at')} AS next_attempt_at,
       ${isoMicros('created_at')} AS created_at, ${isoMicros('delivered_at')} AS delivered_at
     FROM mails WHERE workspace_id = $1 AND ($2::text IS NULL OR status = $2) AND ($3::uuid IS NULL OR id < $3)
     ORDER BY id DESC LIMIT $4`,
    [workspaceId, page.status, page.before, page.limit],
  );
  return rows;
}
