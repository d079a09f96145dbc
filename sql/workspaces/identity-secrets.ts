import { randomBytes } from 'node:crypto';
import type { Queryable } from '../database/pool.ts';

/** Creates an identity secret. Its UTF-8 bytes, prefix included, are the HMAC key. */
const newIdentitySecret = () => `is_live_${randomBytes(24).toString('hex')}`;

/** Sets a new identity secret for the workspace. The former one becomes invalid. */
export async function rotateIdentitySecret(db: Queryable, workspaceId: string, now: Date): Promise<string> {
  const secret = newIdentitySecret();
  await db.query(
    `INSERT INTO identity_secrets (workspace_id, secret, created_at) VALUES ($1, $2, $3)
     ON CONFLICT (workspace_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at`,
    [workspaceId, secret, now],
  );
  return secret;
}

/** Returns the workspace's identity secret, or null when it has none. */
export async function identitySecret(db: Queryable, workspaceId: string): Promise<string | null> {
  const { rows } = await db.query<{ secret: string }>(
    'SELECT secret FROM identity_secrets WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows[0]?.secret ?? null;
}
