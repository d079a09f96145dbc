import { domainToUnicode } from 'node:url';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import { NAMES } from '../connections/named-payments.ts';
import { removeMember } from '../console/members.ts';
import { mayBeEmail } from '../database/email-spellings.ts';
import type { Queryable } from '../database/pool.ts';
import { nextVersion } from '../orders/orders.ts';
import { queuePublications } from '../orders/publications.ts';
import type { ChangeOrigin, Enrollment } from '../referrals/enrollments.ts';
import { deleteEnrollment } from '../transactions/delete-enrollment.ts';
import { forgetBuyersInDeliveries, forgetUsersInDeliveries } from './erased-deliveries.ts';

/** Numbers of records of each kind that had an email. */
export type ErasedRecords = { enrollments: number; signups: number; orders: number; members: number };

/** Returns the visitors of a workspace that identified with this email. */
export async function visitorsWithEmail(
  db: Queryable,
  workspaceId: string,
  email: string,
): Promise<string[]> {
  const { rows } = await db.query<{ visitor_id: string }>(
    'SELECT visitor_id FROM identities WHERE workspace_id = $1 AND email = $2 ORDER BY visitor_id',
    [workspaceId, email],
  );
  return rows.map((row) => row.visitor_id);
}

const isEmailOf = (email: string, texts: readonly (string | null)[]): boolean =>
  texts.some((text) => text !== null && normalizeEmail(text) === email);

/** Returns the lower-case spellings of an email in texts: its host in punycode or not, escaped as in JSON or not. */
function spellingsOf(email: string): string[] {
  const host = email.lastIndexOf('@') + 1;
  const plain = [email, email.slice(0, host) + domainToUnicode(email.slice(host))];
  const escaped = plain.map((text) =>
    text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
  return [...new Set([...plain, ...escaped])];
}

/**
 * Erases the records of a person: referrers with this email or payout address, signups, the buyer of orders, members
 * and invites. Amounts and ids stay.
 *
 * @param email as {@link normalizeEmail} returns it
 */
export async function forgetPerson(
  tx: Queryable,
  workspaceId: string,
  email: string,
  origin: ChangeOrigin,
): Promise<ErasedRecords> {
  const { rows } = await tx.query<
    Pick<Enrollment, 'id' | 'workspace_id' | 'external_user_id' | 'email' | 'payout_email'>
  >(
    `SELECT id, workspace_id, external_user_id, email, payout_email FROM enrollments
     WHERE workspace_id = $1 AND deleted_at IS NULL AND (${mayBeEmail('email', '$2')} OR ${mayBeEmail('payout_email', '$2')})
     ORDER BY id FOR NO KEY UPDATE`,
    [workspaceId, email],
  );
  const enrolled = rows.filter((row) => isEmailOf(email, [row.email, row.payout_email]));
  for (const enrollment of enrolled) await deleteEnrollment(tx, enrollment, origin);
  await tx.query('DELETE FROM applications WHERE workspace_id = $1 AND email = $2', [workspaceId, email]);
  for (const table of ['portal_sessions', 'portal_sign_ins'])
    await tx.query(`DELETE FROM ${table} WHERE email = $1`, [email]);
  await forgetFormerAddresses(tx, workspaceId, email);
  await forgetInConnections(tx, workspaceId, email);
  return {
    enrollments: enrolled.length,
    signups: await forgetSignups(tx, workspaceId, email),
    orders: await forgetOrders(tx, workspaceId, email),
    members: await forgetMembers(tx, workspaceId, email),
  };
}

/** Clears the email from payout files, because their referrers may have another address now. */
async function forgetFormerAddresses(tx: Queryable, workspaceId: string, email: string): Promise<void> {
  const { rows } = await tx.query<{ id: string; payout_email: string }>(
    `SELECT id, payout_email FROM payouts WHERE workspace_id = $1 AND ${mayBeEmail('payout_email', '$2')}`,
    [workspaceId, email],
  );
  const ids = rows.flatMap((row) => (isEmailOf(email, [row.payout_email]) ? [row.id] : []));
  await tx.query('UPDATE payouts SET payout_email = NULL WHERE id = ANY ($1)', [ids]);
}

async function forgetSignups(tx: Queryable, workspaceId: string, email: string): Promise<number> {
  const { rows } = await tx.query<{ external_user_id: string }>(
    `WITH forgotten AS (
       UPDATE signups SET email = NULL, mailbox = NULL, device_id = NULL, visitor_id = NULL, address_hash = NULL
       WHERE workspace_id = $1 AND lower(email) = $2 RETURNING id, external_user_id
     ), of_purchases AS (
       UPDATE purchases SET email = NULL FROM forgotten WHERE signup_id = forgotten.id AND email IS NOT NULL
     )
     SELECT external_user_id FROM forgotten`,
    [workspaceId, email],
  );
  await forgetUsersInDeliveries(
    tx,
    workspaceId,
    rows.map((row) => row.external_user_id),
  );
  return rows.length;
}

async function forgetOrders(tx: Queryable, workspaceId: string, email: string): Promise<number> {
  const { rows } = await tx.query<{ internal_id: number; order_id: string }>(
    `UPDATE orders SET email = NULL, external_user_id = NULL, version = ${nextVersion('orders')}
     WHERE workspace_id = $1 AND email = $2 RETURNING internal_id, order_id`,
    [workspaceId, email],
  );
  await queuePublications(
    tx,
    rows.map((row) => row.internal_id),
  );
  await tx.query('DELETE FROM unmatched_orders WHERE workspace_id = $1 AND email = $2', [workspaceId, email]);
  await forgetBuyersInDeliveries(
    tx,
    rows.map((row) => ({ workspaceId, orderId: row.order_id })),
  );
  return rows.length;
}

/** Clears the person's data from billing providers: the email in payments, and events as they were received. */
async function forgetInConnections(tx: Queryable, workspaceId: string, email: string): Promise<void> {
  const spellings = spellingsOf(email);
  await tx.query(
    `UPDATE connection_payments SET parts = (
       SELECT jsonb_object_agg(name, CASE WHEN lower(part ->> 'email') = ANY ($2) THEN part - 'email' ELSE part END)
       FROM jsonb_each(parts) AS known (name, part))
     WHERE workspace_id = $1
       AND EXISTS (SELECT FROM jsonb_each(parts) AS known (name, part) WHERE lower(part ->> 'email') = ANY ($2))`,
    [workspaceId, spellings],
  );
  await tx.query(
    'UPDATE connection_payments SET names = array_remove(names, $2) WHERE workspace_id = $1 AND $2 = ANY (names)',
    [workspaceId, `${NAMES.email}${email}`],
  );
  await tx.query('DELETE FROM connection_customers WHERE workspace_id = $1 AND lower(email) = ANY ($2)', [
    workspaceId,
    spellings,
  ]);
  await tx.query(
    `UPDATE connection_events SET body = '{}' WHERE workspace_id = $1
       AND EXISTS (SELECT FROM unnest($2::text[]) AS spelling WHERE position(spelling IN lower(body)) > 0)`,
    [workspaceId, spellings],
  );
}

/** A removed member keeps the row, because invitations refer to it; the row no longer names a person. */
async function forgetMembers(tx: Queryable, workspaceId: string, email: string): Promise<number> {
  const { rows } = await tx.query<{ id: string; is_removed: boolean }>(
    `SELECT id, removed_at IS NOT NULL AS is_removed FROM members WHERE workspace_id = $1 AND email = $2`,
    [workspaceId, email],
  );
  for (const { id, is_removed } of rows) {
    if (!is_removed) await removeMember(tx, id);
    await tx.query('DELETE FROM provider_identities WHERE member_id = $1', [id]);
  }
  await tx.query('UPDATE members SET email = NULL WHERE workspace_id = $1 AND email = $2', [
    workspaceId,
    email,
  ]);
  await tx.query('DELETE FROM invites WHERE workspace_id = $1 AND email = $2', [workspaceId, email]);
  await tx.query('DELETE FROM mails WHERE workspace_id = $1 AND recipient = $2', [workspaceId, email]);
  return rows.length;
}
