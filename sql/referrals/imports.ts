import type { Provider } from '../../core/connections/providers.ts';
import { uuidv7 } from '../../core/ids.ts';
import { slugKey } from '../../core/links/slugs.ts';
import { isOneMailbox } from '../../core/referrals/self-referral.ts';
import { normalizeEmail, selfReferralEmail } from '../../core/tracking/emails.ts';
import { mayBeEmail } from '../database/email-spellings.ts';
import type { Queryable } from '../database/pool.ts';

/** A referrer as rows of other files name it. */
export type KnownPartner = { id: string; external_user_id: string; email: string | null; program_id: string };

/** What rows may call a referrer. Emails as {@link normalizeEmail} returns them. */
export type PartnerNames = {
  userIds: readonly string[];
  emails: readonly string[];
  codes: readonly string[];
};

/** A referrer and the name that found it. */
export type FoundPartner = KnownPartner & { by: 'user' | 'email' | 'code'; name: string };

/** Returns the referrers of the workspace with these names. */
export async function partnersNamed(
  tx: Queryable,
  workspaceId: string,
  { userIds, emails, codes }: PartnerNames,
): Promise<FoundPartner[]> {
  const columns = 'e.id, e.external_user_id, e.email, e.program_id';
  const { rows } = await tx.query<FoundPartner>(
    `SELECT ${columns}, 'user' AS by, e.external_user_id AS name FROM enrollments e
     WHERE e.workspace_id = $1 AND e.deleted_at IS NULL AND e.external_user_id = ANY ($2)
     UNION ALL
     SELECT ${columns}, 'email', e.email FROM enrollments e
     WHERE e.workspace_id = $1 AND e.deleted_at IS NULL AND cardinality($3::text[]) > 0
       AND ${mayBeEmail('e.email', 'ANY ($3)')}
     UNION ALL
     SELECT ${columns}, 'code', c.code_key FROM referral_codes c JOIN enrollments e ON e.id = c.enrollment_id
     WHERE c.workspace_id = $1 AND e.deleted_at IS NULL AND c.code_key = ANY ($4)`,
    [workspaceId, userIds, emails, codes.map(slugKey)],
  );
  const wanted = new Set(emails);
  return rows
    .map((row) => (row.by === 'email' ? { ...row, name: normalizeEmail(row.name) } : row))
    .filter(({ by, name }) => by !== 'email' || wanted.has(name));
}

export type ImportedCustomer = {
  partner: KnownPartner;
  externalUserId: string;
  email: string | null;
  /** When the customer signed up. */
  at: Date;
  /** Ids of the customer at billing providers. */
  payers: readonly { provider: Provider; customer: string }[];
};

/**
 * Writes customers as matched signups, which earn nothing for the past. A user who has a signup keeps it.
 *
 * @returns the users whose signups were written
 */
export async function insertImportedSignups(
  tx: Queryable,
  workspaceId: string,
  customers: readonly ImportedCustomer[],
): Promise<Set<string>> {
  const { rows } = await tx.query<{ external_user_id: string }>(
    `INSERT INTO signups (id, workspace_id, external_user_id, email, mailbox, state, by_server, referrer_by_server,
       program_id, enrollment_id, block_reason, reported_at)
     SELECT given.id, $1, given.user_id, given.email, given.mailbox, 'matched', true, true, given.program_id,
       given.enrollment_id, given.block_reason, given.at
     FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::uuid[], $8::text[], $9::timestamptz[])
       AS given (id, user_id, email, mailbox, program_id, enrollment_id, block_reason, at)
     ON CONFLICT (workspace_id, external_user_id) DO NOTHING RETURNING external_user_id`,
    [
      workspaceId,
      customers.map(() => uuidv7()),
      customers.map(({ externalUserId }) => externalUserId),
      customers.map(({ email }) => email),
      customers.map(({ email }) => email && selfReferralEmail(email)),
      customers.map(({ partner }) => partner.program_id),
      customers.map(({ partner }) => partner.id),
      customers.map(blockReasonOf),
      customers.map(({ at }) => at),
    ],
  );
  return new Set(rows.map((row) => row.external_user_id));
}

function blockReasonOf({ partner, externalUserId, email }: ImportedCustomer): string | null {
  if (externalUserId === partner.external_user_id) return 'same_user';
  return partner.email !== null && isOneMailbox([partner.email], email) ? 'same_email' : null;
}

/** Returns those of the users who have orders that wait for a signup, by user or email. */
export async function usersWithUnmatchedOrders(
  tx: Queryable,
  workspaceId: string,
  users: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.query<{ external_user_id: string }>(
    `SELECT s.external_user_id FROM signups s
     WHERE s.workspace_id = $1 AND s.external_user_id = ANY ($2) AND s.block_reason IS NULL AND EXISTS (
       SELECT FROM unmatched_orders u WHERE u.workspace_id = $1 AND (u.external_user_id = s.external_user_id
         OR (u.external_user_id IS NULL AND u.email = s.email)))
     ORDER BY 1`,
    [workspaceId, users],
  );
  return rows.map((row) => row.external_user_id);
}

export type ImportedCommission = {
  partner: KnownPartner;
  /** Its id in the source: it is written once. */
  key: string;
  amountMinor: number;
  status: 'pending' | 'eligible';
  eligibleAt: Date;
};

/** Writes unpaid commissions of an earlier program, each once. Returns the ids of those that were written, by key. */
export async function insertImportedCommissions(
  tx: Queryable,
  given: { workspaceId: string; currency: string; now: Date },
  commissions: readonly ImportedCommission[],
): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ id: string; import_key: string }>(
    `INSERT INTO commissions (id, workspace_id, program_id, enrollment_id, kind, amount_minor, currency, status,
       eligible_at, created_at, import_key)
     SELECT given.id, $1, given.program_id, given.enrollment_id, 'imported', given.amount, $2, given.status,
       given.eligible_at, $3, given.key
     FROM unnest($4::uuid[], $5::uuid[], $6::uuid[], $7::bigint[], $8::text[], $9::timestamptz[], $10::text[])
       AS given (id, program_id, enrollment_id, amount, status, eligible_at, key)
     ON CONFLICT (workspace_id, import_key) WHERE import_key IS NOT NULL DO NOTHING RETURNING id, import_key`,
    [
      given.workspaceId,
      given.currency,
      given.now,
      commissions.map(() => uuidv7()),
      commissions.map(({ partner }) => partner.program_id),
      commissions.map(({ partner }) => partner.id),
      commissions.map(({ amountMinor }) => amountMinor),
      commissions.map(({ status }) => status),
      commissions.map(({ eligibleAt }) => eligibleAt),
      commissions.map(({ key }) => key),
    ],
  );
  return new Map(rows.map((row) => [row.import_key, row.id]));
}

/** Returns the sum of the ledger's opening entries of the commissions with these keys. Minor units. */
export async function sumOfImported(
  tx: Queryable,
  workspaceId: string,
  keys: readonly string[],
): Promise<number> {
  const { rows } = await tx.query<{ sum: string }>(
    `SELECT coalesce(sum(l.amount), 0) AS sum FROM commissions c
     JOIN ledger_entries l ON l.commission_id = c.id AND l.cause = 'imported'
     WHERE c.workspace_id = $1 AND c.import_key = ANY ($2)`,
    [workspaceId, keys],
  );
  return Number(rows[0]?.sum ?? 0);
}
