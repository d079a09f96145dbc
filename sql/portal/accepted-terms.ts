import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';

/** Who accepts terms: an application, and the referrer that it has become. */
export type Accepting = {
  workspaceId: string;
  programId: string;
  applicationId: string;
  /** Null: accepted with the application. */
  enrollmentId: string | null;
};

/** Stores that terms of a program were accepted, for the ledger's chain. Accepted a second time nothing changes. */
export async function acceptTerms(
  tx: Queryable,
  { workspaceId, programId, applicationId, enrollmentId }: Accepting,
  version: string,
  now: Date,
): Promise<void> {
  const { rowCount } = await tx.query(
    `WITH terms AS (SELECT id FROM program_terms WHERE workspace_id = $2 AND program_id = $3 AND version = $4),
       added AS (
         INSERT INTO terms_acceptances (id, workspace_id, terms_id, application_id, enrollment_id, accepted_at)
         SELECT $1, $2, id, $5, $6, $7 FROM terms ON CONFLICT (application_id, terms_id) DO NOTHING)
     SELECT FROM terms`,
    [uuidv7(), workspaceId, programId, version, applicationId, enrollmentId, now],
  );
  if (rowCount !== 1) throw new Error(`the program ${programId} has no terms ${version}`);
}

/** Terms that an affiliate has accepted. */
export type AcceptedTerms = { version: string; url: string | null; text: string | null; accepted_at: Date };

/** Returns what the application of a referrer has accepted, newest first. */
export async function acceptedTerms(db: Queryable, enrollmentId: string): Promise<AcceptedTerms[]> {
  const { rows } = await db.query<AcceptedTerms>(
    `SELECT t.version, t.url, t.text, c.accepted_at
     FROM applications a JOIN terms_acceptances c ON c.application_id = a.id JOIN program_terms t ON t.id = c.terms_id
     WHERE a.enrollment_id = $1 AND t.program_id = a.program_id ORDER BY c.accepted_at DESC, c.id DESC`,
    [enrollmentId],
  );
  return rows;
}
