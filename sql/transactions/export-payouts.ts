import { toMajor } from '../../core/money/money.ts';
import { METHOD_OF_FORMAT, unitOf } from '../../core/referrals/payout-formats.ts';
import type { HeldBack, PayoutFormat, PayoutMethod } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import { type HeldCommission, lockEligible } from '../referrals/commissions.ts';
import { heldBack } from '../referrals/eligible-balances.ts';
import { extendChain } from '../referrals/ledger-chain.ts';
import {
  insertPayoutExport,
  insertPayouts,
  lockPayouts,
  type NewPayout,
  openFilesOf,
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
  /** Name of the account's owner; null: unknown. */
  payoutName: string | null;
  email: string | null;
  method: PayoutMethod;
  payoutEmail: string;
  /** Minor units of `currency`. */
  amountMinor: number;
  currency: string;
  commissions: number;
};

export type PayoutFile = {
  id: string;
  ledgerHead: Buffer;
  lines: PayoutLine[];
  /** Number of referrers with commissions that wait for an open file of the same format and program, by its id. */
  leftOut: Map<string, number>;
  /** Number of balances that are held back, by the reason. */
  heldBack: Map<HeldBack, number>;
  /** Number of lines that are rounded down to the format's smallest amount. */
  rounded: number;
};

/** The scope of a payout file. */
export type PayoutScope = {
  /** Null: every program of the workspace. */
  programId: string | null;
  /** Only sales and bonuses before this time; null: all. */
  until: Date | null;
  format: PayoutFormat;
  /** Null: every method of the format. */
  method: PayoutMethod | null;
  /** Whether the file takes commissions of open files of the same format and program too. */
  includeOpen: boolean;
  /** Maximum number of lines; the others wait for the next file. */
  limit: number | null;
};

/** Maximum number of hold periods that one file ends. The job has ended nearly all of them before. */
const MATURE_LIMIT = 10_000;

type Payee = {
  id: string;
  program_id: string;
  external_user_id: string;
  name: string | null;
  email: string | null;
  payout_method: PayoutMethod | null;
  payout_email: string | null;
  payout_name: string | null;
  held_back: HeldBack | null;
};

/**
 * Creates a payout file: one line for each referrer whose eligible balance is not held back. The balance is net of
 * refunds of paid commissions, and excludes amounts in open files of the same format and program. Referrers who are
 * left out keep their balance.
 */
export async function exportPayouts(
  tx: Queryable,
  workspaceId: string,
  scope: PayoutScope,
  now: Date,
): Promise<PayoutFile> {
  await lockPayouts(tx, workspaceId);
  await matureHeld(tx, { now, limit: MATURE_LIMIT, workspaceId });
  const { programId, until, format, limit } = scope;
  const method = METHOD_OF_FORMAT[format] ?? scope.method;
  const eligible = await lockEligible(tx, { workspaceId, programId, until });
  const waiting = scope.includeOpen ? [] : await openFilesOf(tx, scope, idsOf(eligible));
  const inOpenFiles = new Set(waiting.map(({ commission_id }) => commission_id));
  const byReferrer = Map.groupBy(eligible, (held) => held.enrollment_id);
  const lines: PayoutLine[] = [];
  const payouts: NewPayout[] = [];
  const heldBack = new Map<HeldBack, number>();
  let rounded = 0;
  const balances = [...byReferrer].map(([id, held]) => balanceOf(id, held, inOpenFiles));
  for (const payee of await payeesOf(tx, { workspaceId, programId, format, now }, balances)) {
    const { payout_method, payout_email, held_back } = payee;
    if (method !== null && payout_method !== method) continue;
    if (held_back !== null) heldBack.set(held_back, (heldBack.get(held_back) ?? 0) + 1);
    if (held_back !== null || payout_method === null || payout_email === null) continue;
    if (limit !== null && lines.length === limit) break;
    const held = (byReferrer.get(payee.id) ?? []).filter(({ id }) => !inOpenFiles.has(id));
    const currency = currencyOf(payee.id, held);
    const rest = sumOf(held) % unitOf(format, currency);
    const payout = {
      method: payout_method,
      payoutEmail: payout_email,
      currency,
      amountMinor: sumOf(held) - rest,
    };
    if (rest > 0) rounded += 1;
    const commissions = held.map(({ id, remaining_minor }) => ({ id, amountMinor: remaining_minor }));
    payouts.push({ ...payout, enrollmentId: payee.id, commissions });
    lines.push({
      ...payout,
      partnerId: payee.id,
      programId: payee.program_id,
      externalUserId: payee.external_user_id,
      name: payee.name,
      payoutName: payee.payout_name ?? payee.name,
      email: payee.email,
      commissions: held.length,
    });
  }
  const ledgerHead = await extendChain(tx, workspaceId);
  const file = await insertPayoutExport(tx, { workspaceId, programId, format, ledgerHead, now });
  await insertPayouts(tx, { workspaceId, exportId: file.id, payouts, now });
  await queueEvents(tx, workspaceId, [{ type: 'payout.created', data: payoutData(file, lines) }]);
  return { id: file.id, ledgerHead, lines, leftOut: referrersByFile(waiting, eligible), heldBack, rounded };
}

/** A referrer's payable balance without what open files pay, and the amount in open files. Minor units. */
type Balance = { id: string; amount: number; inOpenFiles: number; currency: string };

function balanceOf(id: string, held: readonly HeldCommission[], inOpenFiles: ReadonlySet<string>): Balance {
  const open = sumOf(held.filter((one) => inOpenFiles.has(one.id)));
  return { id, amount: sumOf(held) - open, inOpenFiles: open, currency: currencyOf(id, held) };
}

/** Returns how many referrers have commissions in each open file. */
function referrersByFile(
  waiting: readonly { commission_id: string; export_id: string }[],
  eligible: readonly HeldCommission[],
): Map<string, number> {
  const owners = new Map(eligible.map(({ id, enrollment_id }) => [id, enrollment_id]));
  const byFile = Map.groupBy(waiting, ({ export_id }) => export_id);
  return new Map(
    [...byFile].map(([file, rows]) => [
      file,
      new Set(rows.map(({ commission_id }) => owners.get(commission_id))).size,
    ]),
  );
}

/** Returns these referrers by payout method, each with the reason that its balance is left out, if any. */
async function payeesOf(
  tx: Queryable,
  given: { workspaceId: string; programId: string | null; format: PayoutFormat; now: Date },
  balances: readonly Balance[],
): Promise<Payee[]> {
  const { rows } = await tx.query<Payee>(
    `SELECT e.id, p.id AS program_id, e.external_user_id, e.name, e.email, e.payout_method, e.payout_email,
       e.payout_name, ${heldBack({
         amount: 'owed.amount',
         inOpenFiles: 'owed.in_open_files',
         currency: 'owed.currency',
         now: '$6',
         format: '$7',
       })} AS held_back
     FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $8::text[]) AS owed (enrollment_id, amount, in_open_files, currency)
     JOIN enrollments e ON e.id = enrollment_id
     JOIN programs p ON p.id = coalesce($5, e.program_id) JOIN workspaces w ON w.id = e.workspace_id
     WHERE e.workspace_id = $1 ORDER BY e.payout_method, e.id`,
    [
      given.workspaceId,
      balances.map(({ id }) => id),
      balances.map(({ amount }) => amount),
      balances.map(({ inOpenFiles }) => inOpenFiles),
      given.programId,
      given.now,
      given.format,
      balances.map(({ currency }) => currency),
    ],
  );
  return rows;
}

/**
 * Returns the currency of a referrer's commissions, which share one. A program's currency can't change once it has
 * commissions, and a referrer with commissions moves only to a program with the same currency.
 */
function currencyOf(partnerId: string, held: readonly HeldCommission[]): string {
  const [currency, ...others] = new Set(held.map((commission) => commission.currency));
  if (currency === undefined || others.length > 0)
    throw new Error(`partner ${partnerId} has commissions in ${others.length + 1} currencies, expected one`);
  return currency;
}

const idsOf = (held: readonly HeldCommission[]) => held.map(({ id }) => id);

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
