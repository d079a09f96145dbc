import type { SecretSealer } from '../../core/access/sealed-secret.ts';
import { isUuid } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';

/** An address, and the workspace whose mail it gets. */
export type Subscription = { workspaceId: string; email: string };

/** All tokens have this owner; each names its own workspace and address. */
const OWNER = 'unsubscribe';

/** Returns the token of the link that ends a workspace's mail to an address. Nothing is stored for it. */
export function unsubscribeToken(sealer: SecretSealer, { workspaceId, email }: Subscription): string {
  return sealer.seal(`${workspaceId} ${email}`, OWNER).toString('base64url');
}

/** Returns what a token is for; null: it is not one of this deployment. */
export function subscriptionOf(sealer: SecretSealer, token: string): Subscription | null {
  try {
    const [workspaceId = '', email = ''] = sealer.open(Buffer.from(token, 'base64url'), OWNER).split(' ');
    return isUuid(workspaceId) && email !== '' ? { workspaceId, email } : null;
  } catch {
    return null;
  }
}

/** Records that an address wants no more mail of a workspace. */
export async function unsubscribe(db: Queryable, { workspaceId, email }: Subscription): Promise<void> {
  await db.query(
    `INSERT INTO mail_unsubscribes (workspace_id, email)
     SELECT id, $2 FROM workspaces WHERE id = $1 ON CONFLICT DO NOTHING`,
    [workspaceId, email],
  );
}
