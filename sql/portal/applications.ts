import type { Language } from '../../core/languages/languages.ts';
import type { LinkAddress } from '../../core/links/short-urls.ts';
import type { ApplicationStatus } from '../../core/referrals/portal.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { DOMAIN_IS_OWN } from '../domains/domains.ts';

export type NewApplication = {
  id: string;
  workspaceId: string;
  programId: string;
  /** As addresses identify a person. */
  email: string;
  name: string;
  /** By the names of the program's fields. */
  answers: Record<string, string>;
  language: Language;
  now: Date;
};

/** Stores an application that waits for its decision. Returns false when the address has applied to the program before. */
export async function insertApplication(tx: Queryable, given: NewApplication): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO applications (id, workspace_id, program_id, email, name, answers, language, status, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8)
     ON CONFLICT (program_id, email) DO NOTHING`,
    [
      given.id,
      given.workspaceId,
      given.programId,
      given.email,
      given.name,
      JSON.stringify(given.answers),
      given.language,
      given.now,
    ],
  );
  return rowCount === 1;
}

/** An application under a lock. */
export type LockedApplication = {
  id: string;
  workspace_id: string;
  program_id: string;
  email: string;
  name: string;
  language: Language;
  status: ApplicationStatus;
  created_at: Date;
};

/** Returns the application with this id in the workspace, locked until the transaction ends, or null. */
export async function lockApplication(
  tx: Queryable,
  workspaceId: string,
  id: string,
): Promise<LockedApplication | null> {
  const { rows } = await tx.query<LockedApplication>(
    `SELECT id, workspace_id, program_id, email, name, language, status, created_at FROM applications
     WHERE workspace_id = $1 AND id = $2 FOR UPDATE`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/** Records the decision on a locked application. @param enrollmentId null: rejected */
export async function decideApplication(
  tx: Queryable,
  { id }: Pick<LockedApplication, 'id'>,
  enrollmentId: string | null,
  now: Date,
): Promise<void> {
  await tx.query('UPDATE applications SET status = $2, enrollment_id = $3, decided_at = $4 WHERE id = $1', [
    id,
    enrollmentId === null ? 'rejected' : 'approved',
    enrollmentId,
    now,
  ]);
}

/** Returns whether another application than this one has the referrer. */
export async function isOfOtherApplication(
  tx: Queryable,
  id: string,
  enrollmentId: string,
): Promise<boolean> {
  const { rowCount } = await tx.query('SELECT FROM applications WHERE enrollment_id = $1 AND id <> $2', [
    enrollmentId,
    id,
  ]);
  return rowCount !== 0;
}

/** An application as it is listed. Instants are ISO 8601 with microseconds. */
export type ListedApplication = {
  /** Also the cursor of the list, newest first. */
  id: string;
  program_id: string;
  email: string;
  name: string;
  answers: Record<string, string>;
  language: Language;
  status: ApplicationStatus;
  /** Of the terms that were accepted last. */
  terms_version: string | null;
  terms_sha256: string | null;
  terms_accepted_at: string | null;
  /** Null: not approved. */
  partner_id: string | null;
  external_user_id: string | null;
  /** Where the referrer's newest live link is. */
  address: LinkAddress | null;
  created_at: string;
  decided_at: string | null;
};

export type ApplicationFilter = {
  id: string | null;
  programId: string | null;
  status: ApplicationStatus | null;
  /** An application's id: only older ones. */
  before: string | null;
  limit: number;
};

/** Returns the applications of a workspace, newest first. */
export async function listApplications(
  db: Queryable,
  workspaceId: string,
  { id, programId, status, before, limit }: ApplicationFilter,
): Promise<ListedApplication[]> {
  const { rows } = await db.query<ListedApplication>(
    `SELECT a.id, a.program_id, a.email, a.name, a.answers, a.language, a.status, accepted.version AS terms_version,
       encode(accepted.sha256, 'hex') AS terms_sha256, ${isoMicros('accepted.accepted_at')} AS terms_accepted_at,
       a.enrollment_id AS partner_id, e.external_user_id, found.address,
       ${isoMicros('a.created_at')} AS created_at, ${isoMicros('a.decided_at')} AS decided_at
     FROM applications a LEFT JOIN enrollments e ON e.id = a.enrollment_id
     LEFT JOIN LATERAL (
       SELECT json_build_object('domain', o.domain, 'slug', l.slug) AS address
       FROM referral_links r JOIN links l ON l.id = r.link_id LEFT JOIN domains o ON o.number = l.domain_number
       WHERE r.enrollment_id = e.id AND l.deleted_at IS NULL AND ${DOMAIN_IS_OWN}
       ORDER BY l.created_at DESC LIMIT 1) AS found ON true
     LEFT JOIN LATERAL (
       SELECT t.version, t.sha256, c.accepted_at FROM terms_acceptances c JOIN program_terms t ON t.id = c.terms_id
       WHERE c.application_id = a.id ORDER BY c.accepted_at DESC, c.id DESC LIMIT 1) AS accepted ON true
     WHERE a.workspace_id = $1 AND ($2::uuid IS NULL OR a.id = $2) AND ($3::uuid IS NULL OR a.program_id = $3)
       AND ($4::text IS NULL OR a.status = $4) AND ($5::uuid IS NULL OR a.id < $5)
     ORDER BY a.id DESC LIMIT $6`,
    [workspaceId, id, programId, status, before, limit],
  );
  return rows;
}
