import type { Queryable } from '../database/pool.ts';

/** Most addresses that are kept of a link: someone who knows the password may have many. */
const MOST_OF_LINK = 1_000;

/** Keeps addresses that gave a link's password, as keyed hashes: the newest 1,000. */
export async function keepPasswordVisitor(db: Queryable, linkId: string, subject: Buffer): Promise<void> {
  await db.query(
    `INSERT INTO password_visitors (subject, link_id) VALUES ($1, $2)
     ON CONFLICT (subject) DO UPDATE SET let_in_at = now()`,
    [subject, linkId],
  );
  await db.query(
    `DELETE FROM password_visitors WHERE link_id = $1 AND let_in_at <
       (SELECT let_in_at FROM password_visitors WHERE link_id = $1 ORDER BY let_in_at DESC OFFSET $2 LIMIT 1)`,
    [linkId, MOST_OF_LINK - 1],
  );
}

/** Returns those of the subjects that are kept. */
export async function passwordVisitors(db: Queryable, subjects: Buffer[]): Promise<Buffer[]> {
  const { rows } = await db.query<{ subject: Buffer }>(
    `SELECT subject FROM password_visitors
     WHERE subject = ANY ($1::bytea[]) AND let_in_at > now() - interval '90 days'`,
    [subjects],
  );
  return rows.map(({ subject }) => subject);
}
