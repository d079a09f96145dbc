import { chainedHash, FIRST_HASH, type LedgerLine } from '../../core/referrals/ledger-hash.ts';
import type { Queryable } from '../database/pool.ts';
import { LINE } from '../referrals/ledger-chain.ts';
import type { ImportContext } from './archived-table.ts';

const BATCH = 1_000;

type Offsets = Pick<ImportContext['offsets'], 'ledger_entries' | 'grants'>;

/**
 * Returns whether the hashes of an imported ledger change here: each covers the numbers of an entry and of its grant.
 */
function isRenumbered({ ledger_entries, grants }: Offsets): boolean {
  return ledger_entries !== 0 || grants !== 0;
}

/** Returns the table that takes the chain of the archive: `ledger_chain`, or one for {@link rechain}. */
export async function chainTable(tx: Queryable, offsets: Offsets): Promise<string> {
  if (!isRenumbered(offsets)) return 'ledger_chain';
  await tx.query('CREATE TEMPORARY TABLE archived_chain (LIKE ledger_chain) ON COMMIT DROP');
  return 'archived_chain';
}

/**
 * Hashes the chain of an imported ledger again where its entries, or the grants that they name, have other numbers
 * here: a hash covers both. The heads of payout files follow. Where all numbers are those of the archive, the hashes
 * are too.
 */
export async function rechain(tx: Queryable, workspaceId: string, offsets: Offsets): Promise<void> {
  if (!isRenumbered(offsets)) return;
  let hash = FIRST_HASH;
  for (let after = 0; ; ) {
    const { rows } = await tx.query<LedgerLine & { position: number; former: Buffer }>(
      `SELECT ${LINE}, c.position, c.hash AS former FROM archived_chain c JOIN ledger_entries l ON l.id = c.entry_id
       WHERE c.position > $1 ORDER BY c.position LIMIT $2`,
      [after, BATCH],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.position;
    const hashes = rows.map(({ position: _, former: __, ...line }) => {
      hash = chainedHash(hash, line);
      return hash;
    });
    await tx.query(
      `INSERT INTO ledger_chain (workspace_id, position, entry_id, hash)
       SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[])`,
      [workspaceId, rows.map(({ position }) => position), rows.map(({ id }) => id), hashes],
    );
    await tx.query(
      `UPDATE payout_exports SET ledger_head = hash FROM unnest($2::bytea[], $3::bytea[]) AS one (former, hash)
       WHERE workspace_id = $1 AND ledger_head = former`,
      [workspaceId, rows.map(({ former }) => former), hashes],
    );
  }
}
