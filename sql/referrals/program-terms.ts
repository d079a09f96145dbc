import { uuidv7 } from '../../core/ids.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** Terms as an owner writes them: at an address, or a text. */
export type TermsContent = { url: string; text: null } | { url: null; text: string };

/** SQL: the SHA-256 of terms `t`. */
const SHA256 = "sha256(convert_to(coalesce(t.text, t.url), 'UTF8'))";

/**
 * Stores terms as the newest version of a locked program. The same version with the same content is stored once.
 *
 * @returns false when the version names other terms
 */
export async function keepTerms(
  tx: Queryable,
  { id, workspace_id: workspaceId }: { id: string; workspace_id: string },
  { version, url, text }: TermsContent & { version: string },
  now: Date,
): Promise<boolean> {
  await tx.query(
    `INSERT INTO program_terms (id, workspace_id, program_id, number, version, url, text, sha256, published_at)
     SELECT $1, $2, $3, (SELECT coalesce(max(number), 0) + 1 FROM program_terms WHERE program_id = $3), $4, t.url, t.text,
       ${SHA256}, $7
     FROM (SELECT $5::text AS url, $6::text AS text) AS t
     ON CONFLICT (program_id, version) DO NOTHING`,
    [uuidv7(), workspaceId, id, version, url, text, now],
  );
  const { rowCount } = await tx.query(
    `SELECT FROM program_terms WHERE program_id = $1 AND version = $2
       AND url IS NOT DISTINCT FROM $3 AND text IS NOT DISTINCT FROM $4`,
    [id, version, url, text],
  );
  return rowCount === 1;
}

/** A version of a program's terms. Instants are ISO 8601 with microseconds. */
export type KeptTerms = {
  /** Counts up; also the cursor of the list. */
  number: number;
  version: string;
  url: string | null;
  text: string | null;
  sha256: string;
  /** How many applicants and affiliates have accepted it. */
  accepted: number;
  published_at: string;
};

/** @param page.before a number: only earlier versions; null: from the newest */
export async function listTerms(
  db: Queryable,
  programId: string,
  page: { version: string | null; before: number | null; limit: number },
): Promise<KeptTerms[]> {
  const { rows } = await db.query<KeptTerms>(
    `SELECT t.number, t.version, t.url, t.text, encode(t.sha256, 'hex') AS sha256,
       (SELECT count(*) FROM terms_acceptances a WHERE a.terms_id = t.id)::integer AS accepted,
       ${isoMicros('t.published_at')} AS published_at
     FROM program_terms t
     WHERE t.program_id = $1 AND ($2::text IS NULL OR t.version = $2) AND ($3::bigint IS NULL OR t.number < $3::bigint)
     ORDER BY t.number DESC LIMIT $4`,
    [programId, page.version, page.before, page.limit],
  );
  return rows;
}

/** Returns the names of all versions that a program has had. */
export async function termsVersions(db: Queryable, programId: string): Promise<Set<string>> {
  const { rows } = await db.query<{ version: string }>(
    'SELECT version FROM program_terms WHERE program_id = $1',
    [programId],
  );
  return new Set(rows.map(({ version }) => version));
}

/** Returns the ids of terms whose SHA-256 is not that of their content. */
export async function alteredTerms(db: Queryable, workspaceId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT t.id FROM program_terms t WHERE t.workspace_id = $1 AND t.sha256 <> ${SHA256} ORDER BY t.id`,
    [workspaceId],
  );
  return rows.map(({ id }) => id);
}

/** Returns the ids of acceptances that are neither in the chain nor queued for it. */
export async function unchainedAcceptances(db: Queryable, workspaceId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT a.id FROM terms_acceptances a LEFT JOIN ledger_chain c ON c.acceptance_id = a.id
     LEFT JOIN acceptances_unchained u ON u.workspace_id = a.workspace_id AND u.acceptance_id = a.id
     WHERE a.workspace_id = $1 AND c.acceptance_id IS NULL AND u.acceptance_id IS NULL ORDER BY a.id`,
    [workspaceId],
  );
  return rows.map(({ id }) => id);
}
