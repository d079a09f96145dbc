import type { SecretSealer } from '../../core/access/sealed-secret.ts';
import { isUuid } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';
import type { Subscription } from './unsubscribes.ts';

/**
 * Whether an address gets reports of a workspace: `ok` for a member or a confirmed address, `unconfirmed` for one that
 * has not used the link of its first mail, `unsubscribed` for one that wants no mail.
 */
export type AddressState = 'ok' | 'unconfirmed' | 'unsubscribed';

/** Returns the state of each address. @param emails trimmed, lower case */
export async function addressStates(
  db: Queryable,
  workspaceId: string,
  emails: readonly string[],
): Promise<Map<string, AddressState>> {
  const { rows } = await db.query<{ email: string; state: AddressState }>(
    `SELECT email, CASE
       WHEN EXISTS (SELECT FROM mail_unsubscribes u WHERE u.workspace_id = $1 AND u.email = given.email)
         THEN 'unsubscribed'
       WHEN EXISTS (SELECT FROM members m
                    WHERE m.workspace_id = $1 AND m.email = given.email AND m.removed_at IS NULL)
         OR EXISTS (SELECT FROM mail_confirmations c WHERE c.workspace_id = $1 AND c.email = given.email)
         THEN 'ok'
       ELSE 'unconfirmed' END AS state
     FROM unnest($2::text[]) AS given (email)`,
    [workspaceId, emails],
  );
  return new Map(rows.map(({ email, state }) => [email, state]));
}

/** Returns the addresses of a list that got no mail with a link to confirm in the last day. */
export async function withoutRecentConfirmation(
  tx: Queryable,
  workspaceId: string,
  emails: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.query<{ email: string }>(
    `SELECT email FROM unnest($2::text[]) AS given (email)
     WHERE NOT EXISTS (SELECT FROM mails WHERE workspace_id = $1 AND kind = 'confirmation' AND recipient = given.email
       AND created_at > now() - interval '1 day')`,
    [workspaceId, emails],
  );
  return rows.map(({ email }) => email);
}

/** Returns how many mails with a link to confirm the workspace caused in the last day. */
export async function recentConfirmations(tx: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM mails
     WHERE workspace_id = $1 AND kind = 'confirmation' AND created_at > now() - interval '1 day'`,
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/** All tokens have this owner; each names its own workspace and address. */
const OWNER = 'confirm';

/** Returns the token of the link that confirms an address. Nothing is stored for it. */
export function confirmationToken(sealer: SecretSealer, { workspaceId, email }: Subscription): string {
  return sealer.seal(`${workspaceId} ${email}`, OWNER).toString('base64url');
}

/** Returns what a token confirms; null: it is not one of this deployment. */
export function confirmedBy(sealer: SecretSealer, token: string): Subscription | null {
  try {
    const [workspaceId = '', email = ''] = sealer.open(Buffer.from(token, 'base64url'), OWNER).split(' ');
    return isUuid(workspaceId) && email !== '' ? { workspaceId, email } : null;
  } catch {
    return null;
  }
}

/** Records that an address wants the reports of a workspace. */
export async function confirmAddress(db: Queryable, { workspaceId, email }: Subscription): Promise<void> {
  await db.query(
    `WITH again AS (DELETE FROM mail_unsubscribes WHERE workspace_id = $1 AND email = $2)
     INSERT INTO mail_confirmations (workspace_id, email)
     SELECT id, $2 FROM workspaces WHERE id = $1 ON CONFLICT DO NOTHING`,
    [workspaceId, email],
  );
}
