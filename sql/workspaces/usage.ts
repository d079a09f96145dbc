import { convertSum, toMajor } from '../../core/money/money.ts';
import type { Queryable } from '../database/pool.ts';
import { commissionEarned } from '../referrals/commission-list.ts';
import { readRates } from './currency-rates.ts';
import type { Workspace } from './workspaces.ts';

/**
 * Returns how many links of the workspace count towards its cap. Referral links don't: a program's growth must not stop
 * the workspace from creating links, nor the cap a user from referring.
 *
 * @param upTo limit of the count: a check of the cap needs no more
 */
export async function countLinks(db: Queryable, workspaceId: string, upTo: number | null): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM links WHERE workspace_id = $1 AND deleted_at IS NULL
         AND channel IS DISTINCT FROM 'referral' LIMIT $2) AS live`,
    [workspaceId, upTo],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Returns the commission that the workspace's sales earned in `[from, to)`, net of refunds, in major units of the
 * workspace's currency. Amounts in a currency without a rate are left out.
 */
export async function commissionUsed(
  db: Queryable,
  workspace: Pick<Workspace, 'id' | 'currency'>,
  from: Date,
  to: Date,
): Promise<number> {
  const earned = await commissionEarned(db, workspace.id, from, to);
  if (earned.length === 0) return 0;
  const rateOf = await readRates(db);
  const minor = earned.reduce((sum, { currency, amount_minor }) => {
    const rate = rateOf(currency, workspace.currency);
    return rate === null ? sum : sum + convertSum(BigInt(amount_minor), currency, workspace.currency, rate);
  }, 0n);
  return toMajor(minor, workspace.currency);
}
