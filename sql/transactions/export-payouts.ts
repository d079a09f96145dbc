import { toMajor } from '../../core/money/money.ts';
import type { HeldBack, PayoutMethod } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import { type HeldCommission, lockEligible } from '../referrals/commissions.ts';
import { heldBack } from '../referrals/eligible-balances.ts';
import { extendChain } from '../referrals/ledger-chain.ts';
import {
  insertPayoutExport,
  insertPayouts,
  type NewPayout,
  type PayoutExport,
} from '../referrals/payouts.ts';
import { type PayoutData, queueEvents } from '../webhooks/outbox.ts';
import { matureHeld } from './mature-held.ts';

/** One line of a payout file. */
export type PayoutLine = {
  partnerId: string;
  programId: string;
  externalUserId: string;
  name: string | null;
  email: string | null;
  method: PayoutMethod;
  payoutEmail: string;
  /** Minor units of `currency`. */
  amountMinor: number;
  currency: string;
  commissions: number;
};

export type PayoutFile = { id: string; ledgerHead: Buffer; lines: PayoutLine[] };

/** What a payout file is to contain. */
export type PayoutScope = {
  /** Null: every program of the workspace. */
  programId: string | null;
  /** Only sales and bonuses before this time; null: all. */
  until: Date | null;
  /** Null: every method. */
  method: PayoutMethod | null;
  /** Lines at most; the others wait for the next file. */
  limit: number | null;
};

/** Hold periods that one file ends at most. The job ends nearly all of them before. */
const MATURE_LIMIT = 10_000;

type Payee = {
  id: string;
  program_id: string;
  external_user_id: string;
  name: string | null;
  email: string | null;
  payout_method: PayoutMethod | null;
  payout_email: string | null;
  held_back: HeldBack | null;
};

/**
 * Creates a payout file: one line for each referrer whose eligible balance is not held back. The balance is net of
 * refunds of paid commissions. Left-out referrers keep their balance.
 */
export async function exportPayouts(
  tx: Queryable,
  workspaceId: string,
  scope: PayoutScope,
  now: Date,
): Promise<PayoutFile> {
  await matureHeld(tx, { now, limit: MATURE_LIMIT, workspaceId });
  const { programId, until, method, limit } = scope;
  const byReferrer = Map.groupBy(
    await lockEligible(tx, { workspaceId, programId, until }),
    (held) => held.enrollment_id,
  );
  const lines: PayoutLine[] = [];
  const payouts: NewPayout[] = [];
  for (const payee of await payeesOf(tx, { workspaceId, programId, now }, byReferrer)) {
    const { payout_method, payout_email, held_back } = payee;
    if (held_back !== null || payout_method === null || payout_email === null) continue;
    if (method !== null && payout_method !== method) continue;
    if (limit !== null && lines.length === limit) break;
    const held = byReferrer.get(payee.id) ?? [];
    const payout = {
      method: payout_method,
      payoutEmail: payout_email,
      currency: currencyOf(payee, held),
      amountMinor: sumOf(held),
    };
    const commissions = held.map(({ id, remaining_minor }) => ({ id, amountMinor: remaining_minor }));
    payouts.push({ ...payout, enrollmentId: payee.id, commissions });
    lines.push({
      ...payout,
      partnerId: payee.id,
      programId: payee.program_id,
      externalUserId: payee.external_user_id,
      name: payee.name,
      email: payee.email,
      commissions: held.length,
    });
  }
  const ledgerHead = await extendChain(tx, workspaceId);
  const file = await insertPayoutExport(tx, { workspaceId, programId, ledgerHead, now });
  await insertPayouts(tx, { workspaceId, exportId: file.id, payouts, now });
  await queueEvents(tx, workspaceId, [{ type: 'payout.created', data: payoutData(file, lines) }]);
  return { id: file.id, ledgerHead, lines };
}

/** Returns these referrers by payout method, each with the reason that its balance is left out, if any. */
async function payeesOf(
  tx: Queryable,
  { workspaceId, programId, now }: { workspaceId: string; programId: string | null; now: Date },
  byReferrer: ReadonlyMap<string, readonly HeldCommission[]>,
): Promise<Payee[]> {
  const { rows } = await tx.query<Payee>(
    `SELECT e.id, p.id AS program_id, e.external_user_id, e.name, e.email, e.payout_method, e.payout_email,
       ${heldBack('owed.amount', '$5')} AS held_back
     FROM unnest($2::uuid[], $3::bigint[]) AS owed (enrollment_id, amount) JOIN enrollments e ON e.id = enrollment_id
     JOIN programs p ON p.id = coalesce($4, e.program_id) JOIN workspaces w ON w.id = e.workspace_id
     WHERE e.workspace_id = $1 ORDER BY e.payout_method, e.id`,
    [workspaceId, [...byReferrer.keys()], [...byReferrer.values()].map(sumOf), programId, now],
  );
  return rows;
}

/**
 * A program's currency can't change once it has commissions, and a referrer with commissions moves only to a program of
 * the same currency: a referrer's commissions share one.
 */
function currencyOf(payee: Payee, held: readonly HeldCommission[]): string {
  const [currency, ...others] = new Set(held.map((commission) => commission.currency));
  if (currency === undefined || others.length > 0)
    throw new Error(`partner ${payee.id} has commissions in ${others.length + 1} currencies, expected one`);
  return currency;
}

const sumOf = (held: readonly HeldCommission[]): number =>
  held.reduce((sum, commission) => sum + commission.remaining_minor, 0);

/** Returns a payout file as its events show it. */
export function payoutData(
  file: Pick<PayoutExport, 'id' | 'program_id' | 'status' | 'created_at'>,
  lines: readonly { currency: string; amountMinor: number }[],
): PayoutData {
  return {
    id: file.id,
    program_id: file.program_id,
    status: file.status,
    totals: majorTotals(lines),
    created_at: file.created_at.toISOString(),
  };
}

/** Returns sums of minor units as major units by currency. */
export function majorTotals(
  amounts: readonly { currency: string; amountMinor: number }[],
): Record<string, number> {
  const totals = new Map<string, number>();
  for (const { currency, amountMinor } of amounts) {
    totals.set(currency, (totals.get(currency) ?? 0) + amountMinor);
  }
  return Object.fromEntries([...totals].map(([currency, minor]) => [currency, toMajor(minor, currency)]));
}
