import type { Queryable } from '../database/pool.ts';
import { copyChain } from '../referrals/ledger-chain.ts';
import type { ImportContext } from './archived-table.ts';

type Offsets = Pick<ImportContext['offsets'], 'ledger_entries' | 'grants'>;

/**
 * Returns whether the hashes of an imported ledger change here: each covers the numbers of an entry and of its grant.
 */
function isRenumbered({ ledger_entries, grants }: Offsets): boolean {
  return ledger_entries !== 0 || grants !== 0;
}

const ARCHIVED_CHAIN = 'archived_chain';

/** Returns the table that takes the chain of the archive: `ledger_chain`, or one for {@link rechain}. */
export async function chainTable(tx: Queryable, offsets: Offsets): Promise<string> {
  if (!isRenumbered(offsets)) return 'ledger_chain';
  await tx.query(
    `CREATE TEMPORARY TABLE ${ARCHIVED_CHAIN} (LIKE ledger_chain INCLUDING INDEXES) ON COMMIT DROP`,
  );
  return ARCHIVED_CHAIN;
}

/**
 * Hashes the chain of an imported ledger again where its entries, or the grants that they name, have other numbers
 * here: a hash covers both. The heads of payout files follow. Where all numbers are those of the archive, the hashes
 * are too.
 */
export async function rechain(tx: Queryable, workspaceId: string, offsets: Offsets): Promise<void> {
  if (!isRenumbered(offsets)) return;
  await copyChain(tx, workspaceId, ARCHIVED_CHAIN, async (former, hashes) => {
    await tx.query(
      `UPDATE payout_exports SET ledger_head = hash FROM unnest($2::bytea[], $3::bytea[]) AS one (former, hash)
       WHERE workspace_id = $1 AND ledger_head = former`,
      [workspaceId, former, hashes],
    );
  });
}
