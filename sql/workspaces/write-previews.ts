import type { Queryable } from '../database/pool.ts';

/** A write that was shown to a program, and is done when it confirms it. */
export type WritePreview = { workspaceId: string; keyId: string; tool: string; tokenHash: Buffer };

const LASTS = '5 minutes';

/** Stores what a confirmation of a preview does. */
export async function storeWritePreview(
  db: Queryable,
  { workspaceId, keyId, tool, tokenHash }: WritePreview,
  write: unknown,
): Promise<void> {
  await db.query(
    `INSERT INTO write_previews (token_hash, workspace_id, key_id, tool, write, expires_at)
     VALUES ($1, $2, $3, $4, $5, now() + interval '${LASTS}')`,
    [tokenHash, workspaceId, keyId, tool, JSON.stringify(write)],
  );
}

/**
 * Takes what a preview was of, once: a second call with its token gets null, and so does one after five minutes, with
 * another key, or for another tool.
 */
export async function takeWritePreview(
  db: Queryable,
  { workspaceId, keyId, tool, tokenHash }: WritePreview,
): Promise<unknown> {
  const { rows } = await db.query<{ write: unknown; is_valid: boolean }>(
    `DELETE FROM write_previews WHERE token_hash = $1 AND workspace_id = $2 AND key_id = $3 AND tool = $4
     RETURNING write, expires_at > now() AS is_valid`,
    [tokenHash, workspaceId, keyId, tool],
  );
  return rows[0]?.is_valid ? rows[0].write : null;
}
