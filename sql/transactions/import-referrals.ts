import { OPEN_MS } from '../../core/connections/payment-parts.ts';
import { PROVIDERS } from '../../core/connections/providers.ts';
import type { CommissionRecord, PartnerRecord } from '../../core/referral-imports/records.ts';
import { lockAccount } from '../connections/connections.ts';
import { tiePayer } from '../connections/customers.ts';
import { settleSoon } from '../connections/payments.ts';
import type { Queryable } from '../database/pool.ts';
import { accountOf, commissionsWithIds } from '../referrals/commissions.ts';
import { insertCoupon } from '../referrals/coupons.ts';
import {
  type ChangeOrigin,
  enrollmentOfUser,
  insertEnrollment,
  updateEnrollment,
} from '../referrals/enrollments.ts';
import {
  type ImportedCommission,
  type ImportedCustomer,
  insertImportedCommissions,
  insertImportedSignups,
  type KnownPartner,
  usersWithUnmatchedOrders,
} from '../referrals/imports.ts';
import { appendEntries } from '../referrals/ledger.ts';
import { holdDaysOf } from '../referrals/partner-groups.ts';
import { lockProgramShared, type Program } from '../referrals/programs.ts';
import { addReferralCode } from '../referrals/referral-codes.ts';
import { createReferralLink } from '../referrals/referral-links.ts';
import { lockSignupOfUser } from '../referrals/signups.ts';
import { queueEvents } from '../webhooks/outbox.ts';
import { lockWorkspace, type Workspace } from '../workspaces/workspaces.ts';
import { commissionData } from './move-commissions.ts';
import { claimUnmatchedOrders } from './purchases-of-signup.ts';

const DAY_MS = 86_400_000;

/** A referrer after its import. `lost`: codes and coupons that another referrer has. */
export type ImportedPartner = { partner: KnownPartner; isNew: boolean; lost: string[] };

/**
 * Enrolls a referrer of an earlier program once. The first old code becomes the slug of the link if it is free; all of
 * them still name the referrer. An enrolled referrer keeps terms and addresses, and gets the missing codes.
 */
export async function importPartner(
  tx: Queryable,
  program: Program,
  given: { userId: string; record: PartnerRecord },
  origin: ChangeOrigin,
): Promise<ImportedPartner> {
  const { userId, record } = given;
  const { workspace_id: workspaceId } = program;
  await lockWorkspace(tx, workspaceId);
  const known = await enrollmentOfUser(tx, workspaceId, userId);
  const enrollment =
    known ??
    (await insertEnrollment(
      tx,
      {
        workspace_id: workspaceId,
        program_id: program.id,
        external_user_id: userId,
        email: record.ref.email,
        name: record.name,
        device_id: null,
        address_hash: null,
        tier: 'free',
        reward_mode: program.terms.creditEnabled ? 'referrer' : 'affiliate',
      },
      origin,
    ));
  if (!enrollment) throw new Error(`the enrollment of ${userId} was not inserted`);
  if (!known) {
    const { payout } = record;
    await updateEnrollment(
      tx,
      enrollment,
      {
        ...(record.isSuspended && { status: 'suspended' as const }),
        ...(payout !== null &&
          program.payout_methods.includes(payout.method) && {
            payout_method: payout.method,
            payout_email: payout.email,
          }),
      },
      origin,
    );
    await createReferralLink(tx, program, enrollment.id, record.codes[0] ?? null);
  }
  const lost: string[] = [];
  for (const code of record.codes) {
    if (!(await addReferralCode(tx, { workspaceId, enrollmentId: enrollment.id, code }))) lost.push(code);
  }
  for (const code of record.coupons) {
    const made = await insertCoupon(tx, { workspaceId, enrollmentId: enrollment.id, code, now: origin.now });
    if (made === null && !(await hasCoupon(tx, enrollment.id, code))) lost.push(code);
  }
  const { id, external_user_id, email, program_id } = enrollment;
  return { partner: { id, external_user_id, email, program_id }, isNew: !known, lost };
}

async function hasCoupon(tx: Queryable, enrollmentId: string, code: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    'SELECT FROM coupons WHERE enrollment_id = $1 AND lower(code) = lower($2) AND deleted_at IS NULL',
    [enrollmentId, code],
  );
  return rowCount === 1;
}

/**
 * Writes customers of referrers as matched signups, without events and without credits, because they signed up in the
 * past. Orders that wait for one of them are evaluated. Their ids at billing providers name them as buyers, even before
 * the provider is connected.
 *
 * @returns how many were written; the others have a signup
 */
export async function importCustomers(
  tx: Queryable,
  workspace: Workspace,
  customers: readonly ImportedCustomer[],
  now: Date,
): Promise<number> {
  await tieCustomers(tx, workspace.id, customers, now);
  const made = await insertImportedSignups(tx, workspace.id, customers);
  for (const user of await usersWithUnmatchedOrders(tx, workspace.id, [...made])) {
    const signup = await lockSignupOfUser(tx, workspace.id, user);
    if (signup?.state === 'matched') await claimUnmatchedOrders(tx, workspace, signup, now);
  }
  return made.size;
}

async function tieCustomers(
  tx: Queryable,
  workspaceId: string,
  customers: readonly ImportedCustomer[],
  now: Date,
): Promise<void> {
  const since = new Date(now.getTime() - OPEN_MS);
  for (const provider of PROVIDERS) {
    const account = { workspace_id: workspaceId, provider };
    const tied = customers.flatMap(({ payers, externalUserId, at }) =>
      payers
        .filter((payer) => payer.provider === provider)
        .map(({ customer }) => ({ payer: { customer, subscription: null }, externalUserId, at })),
    );
    if (tied.length > 0) await lockAccount(tx, account);
    for (const { payer, externalUserId, at } of tied) {
      const buyer = { externalUserId, visitorId: null, reference: null };
      const source = { eventId: 'import', connectionId: null, at };
      if (await tiePayer(tx, account, { payer, buyer }, source)) await settleSoon(tx, account, payer, since);
    }
  }
}

/** A commission of a file with its referrer and its id in the source. */
export type KeyedCommission = { partner: KnownPartner; key: string; record: CommissionRecord };

/**
 * Writes unpaid commissions with their earned amounts, each with an entry `imported`, and sends `commission.created`. A
 * commission that was imported before stays unchanged.
 *
 * @returns how many were written
 */
export async function importCommissions(
  tx: Queryable,
  program: Program,
  commissions: readonly KeyedCommission[],
  now: Date,
): Promise<number> {
  const { workspace_id: workspaceId } = program;
  const { terms } = await lockProgramShared(tx, workspaceId, program.id);
  const holdDays = await holdDaysOf(
    tx,
    program.id,
    commissions.map(({ partner }) => partner.id),
  );
  const given = commissions.map(({ partner, key, record }): ImportedCommission => {
    const since = record.createdAt ?? now;
    const eligibleAt =
      record.eligibleAt === 'after hold'
        ? new Date(since.getTime() + (holdDays.get(partner.id) ?? terms.holdDays) * DAY_MS)
        : (record.eligibleAt ?? now);
    return {
      partner,
      key,
      amountMinor: record.amountMinor,
      status: eligibleAt <= now ? 'eligible' : 'pending',
      eligibleAt: eligibleAt <= now ? now : eligibleAt,
    };
  });
  const ids = await insertImportedCommissions(tx, { workspaceId, currency: terms.currency, now }, given);
  const written = given.flatMap((one) => {
    const id = ids.get(one.key);
    return id === undefined ? [] : [{ ...one, id }];
  });
  await appendEntries(
    tx,
    workspaceId,
    written.map(({ id, partner, amountMinor, status }) => ({
      enrollmentId: partner.id,
      externalUserId: partner.external_user_id,
      account: accountOf(status),
      unit: terms.currency,
      amount: amountMinor,
      cause: 'imported' as const,
      commissionId: id,
    })),
    now,
  );
  const made = await commissionsWithIds(tx, [...ids.values()]);
  await queueEvents(
    tx,
    workspaceId,
    made.map((commission) => ({
      type: 'commission.created' as const,
      data: commissionData(commission, null, commission.amount_minor),
    })),
  );
  return written.length;
}
