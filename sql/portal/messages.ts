import type { Language } from '../../core/languages/languages.ts';
import type { LinkAddress } from '../../core/links/short-urls.ts';
import type { CommissionType, EnrollmentStatus } from '../../core/referrals/terms.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { DOMAIN_IS_OWN } from '../domains/domains.ts';

/** Whom a message is for: a group, a program, or these referrers. */
export type Addressed = {
  groupId: string | null;
  programId: string | null;
  partnerIds: readonly string[] | null;
};

/** A referrer whom a message is for. */
export type Addressee = {
  id: string;
  program_id: string;
  name: string | null;
  email: string | null;
  status: EnrollmentStatus;
  /** Wants no mail of the workspace, or none about the program. */
  is_unsubscribed: boolean;
  /** Of the page where the referrer applied, else of the workspace; null: none is set. */
  language: Language | null;
  /** The referral link; null: it was deleted. */
  address: LinkAddress | null;
  group_id: string | null;
  commission_type: CommissionType | null;
  commission_rate: number | null;
};

/** Returns the referrers whom a message is for, oldest first, unchanged until the transaction ends. */
export async function addressees(
  tx: Queryable,
  workspaceId: string,
  { groupId, programId, partnerIds }: Addressed,
  limit: number,
): Promise<Addressee[]> {
  const { rows } = await tx.query<Addressee>(
    `SELECT e.id, e.program_id, e.name, e.email, e.status, e.group_id, e.commission_type,
       e.commission_rate::float8 AS commission_rate, coalesce(a.language, w.language) AS language, links.address,
       a.notices IS FALSE OR EXISTS (SELECT FROM mail_unsubscribes u
         WHERE u.workspace_id = $1 AND u.email IN (a.email, lower(btrim(e.email)))) AS is_unsubscribed
     FROM enrollments e JOIN workspaces w ON w.id = e.workspace_id LEFT JOIN applications a ON a.enrollment_id = e.id
     CROSS JOIN LATERAL (SELECT (array_agg(json_build_object('domain', o.domain, 'slug', l.slug) ORDER BY l.created_at DESC)
         FILTER (WHERE l.deleted_at IS NULL AND ${DOMAIN_IS_OWN}))[1] AS address
       FROM referral_links r JOIN links l ON l.id = r.link_id LEFT JOIN domains o ON o.number = l.domain_number
       WHERE r.enrollment_id = e.id) AS links
     WHERE e.workspace_id = $1 AND e.deleted_at IS NULL AND ($2::uuid IS NULL OR e.group_id = $2)
       AND ($3::uuid IS NULL OR e.program_id = $3) AND ($4::uuid[] IS NULL OR e.id = ANY ($4))
     ORDER BY e.id LIMIT $5 FOR SHARE OF e`,
    [workspaceId, groupId, programId, partnerIds, limit],
  );
  return rows;
}

/** How many are left out of a message, by the reason. */
export type LeftOut = { suspended: number; no_email: number; unsubscribed: number };

export type NewMessage = {
  id: string;
  workspaceId: string;
  programId: string | null;
  groupId: string | null;
  subject: string;
  text: string;
  leftOut: LeftOut;
  sentBy: string;
  now: Date;
};

/** Stores a message, and to whom it goes. */
export async function insertMessage(
  tx: Queryable,
  { id, workspaceId, programId, groupId, subject, text, leftOut, sentBy, now }: NewMessage,
  recipients: readonly { enrollmentId: string; mailId: string }[],
): Promise<void> {
  await tx.query(
    `INSERT INTO messages (id, workspace_id, program_id, group_id, subject, text, left_out, sent_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [id, workspaceId, programId, groupId, subject, text, JSON.stringify(leftOut), sentBy, now],
  );
  await tx.query(
    `INSERT INTO message_recipients (message_id, enrollment_id, mail_id)
     SELECT $1, enrollment_id, mail_id FROM unnest($2::uuid[], $3::uuid[]) AS given (enrollment_id, mail_id)`,
    [id, recipients.map(({ enrollmentId }) => enrollmentId), recipients.map(({ mailId }) => mailId)],
  );
}

/** Returns how many mails of messages a workspace has sent since a time, and when the oldest of these messages was sent. */
export async function sentSince(
  tx: Queryable,
  workspaceId: string,
  since: Date,
): Promise<{ mails: number; oldest: Date | null }> {
  const { rows } = await tx.query<{ mails: number; oldest: Date | null }>(
    `SELECT count(*)::integer AS mails, min(m.created_at) AS oldest
     FROM messages m JOIN message_recipients r ON r.message_id = m.id WHERE m.workspace_id = $1 AND m.created_at > $2`,
    [workspaceId, since],
  );
  return rows[0] ?? { mails: 0, oldest: null };
}

/** A message as it is listed. */
export type ListedMessage = {
  /** Also the cursor of the list, newest first. */
  id: string;
  program_id: string | null;
  group_id: string | null;
  subject: string;
  text: string;
  left_out: LeftOut;
  sent_by: string;
  recipients: number;
  pending: number;
  delivered: number;
  failed: number;
  canceled: number;
  /** Recipients who have ended the mails of the workspace since. */
  unsubscribed: number;
  /** ISO 8601 with microseconds. */
  created_at: string;
};

/** Returns the messages of a workspace, newest first. @param page.before a message's id: only older ones */
export async function listMessages(
  db: Queryable,
  workspaceId: string,
  page: { id: string | null; before: string | null; limit: number },
): Promise<ListedMessage[]> {
  const { rows } = await db.query<ListedMessage>(
    `SELECT m.id, m.program_id, m.group_id, m.subject, m.text, m.left_out, m.sent_by,
       ${isoMicros('m.created_at')} AS created_at, sums.*
     FROM messages m CROSS JOIN LATERAL (
       SELECT count(*)::integer AS recipients, ${STATUSES.map(countOf).join(', ')},
         count(*) FILTER (WHERE EXISTS (SELECT FROM mail_unsubscribes u
           WHERE u.workspace_id = m.workspace_id AND u.email = lower(btrim(e.email))
             AND u.created_at >= m.created_at))::integer AS unsubscribed
       FROM message_recipients r JOIN enrollments e ON e.id = r.enrollment_id WHERE r.message_id = m.id) AS sums
     WHERE m.workspace_id = $1 AND ($2::uuid IS NULL OR m.id = $2) AND ($3::uuid IS NULL OR m.id < $3)
     ORDER BY m.id DESC LIMIT $4`,
    [workspaceId, page.id, page.before, page.limit],
  );
  return rows;
}

const STATUSES = ['pending', 'delivered', 'failed', 'canceled'] as const;
const countOf = (status: (typeof STATUSES)[number]) =>
  `count(*) FILTER (WHERE r.status = '${status}')::integer AS ${status}`;
