import type { Pool } from '../../sql/database/pool.ts';

/**
 * Checks what holds for every ledger: a commission's entries are in the account of its status alone and add up to its
 * remainder, a grant's are in the account of its own status, and no account of credits is negative.
 *
 * @returns the contradictions; empty when there are none
 */
export async function contradictions(pool: Pool, workspaceId: string): Promise<unknown[]> {
  const { rows } = await pool.query(
    `WITH account AS (
       SELECT commission_id, grant_id, account, sum(amount) AS amount FROM ledger_entries
       WHERE workspace_id = $1 GROUP BY commission_id, grant_id, account
     )
     SELECT 'commission' AS what, c.id::text, c.status, a.account, a.amount
     FROM commissions c LEFT JOIN account a ON a.commission_id = c.id AND a.amount <> 0
     WHERE c.workspace_id = $1 AND CASE WHEN c.status IN ('reversed', 'rejected') THEN a.account IS NOT NULL
       ELSE a.account IS DISTINCT FROM 'cash_' || c.status OR abs(a.amount) > abs(c.amount_minor)
         OR sign(a.amount) <> sign(c.amount_minor) END
     UNION ALL
     SELECT 'grant', g.id::text, g.status, a.account, a.amount
     FROM grants g LEFT JOIN account a ON a.grant_id = g.id AND a.amount <> 0
     WHERE g.workspace_id = $1 AND CASE g.status WHEN 'revoked' THEN a.account IS NOT NULL
       ELSE a.account IS DISTINCT FROM 'credit_' || g.status OR a.amount IS DISTINCT FROM g.amount END`,
    [workspaceId],
  );
  return rows;
}
