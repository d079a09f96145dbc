import { chainedHash, FIRST_HASH, type LedgerLine } from '../../core/referrals/ledger-hash.ts';
import { lockNamed } from '../database/advisory-locks.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** Entries in one statement. */
const BATCH = 1_000;

/** SQL: the columns of a {@link LedgerLine}, of an entry `l`. They never change, whatever is erased. */
export const LINE = `l.id, ${isoMicros('l.created_at')} AS created_at, l.enrollment_id AS partner_id, l.external_user_id,
  l.account, l.unit, l.amount AS amount_minor, l.cause, l.grant_id, l.commission_id, l.refund_id,
  l.payout_id AS payout_line_id`;

/** An entry with its place in the chain. */
export type ChainedLine = { position: number; hash: Buffer; line: LedgerLine };

/**
 * Adds every visible entry that is not in the workspace's chain yet, and returns the hash of the last entry. Locks the
 * chain until the transaction ends. Entries of transactions that have not committed are added by a later call.
 */
export async function extendChain(tx: Queryable, workspaceId: string): Promise<Buffer> {
  await lockNamed(tx, 'ledgerChain', workspaceId);
  let { position, hash } = await lastOf(tx, workspaceId);
  for (;;) {
    const { rows } = await tx.query<LedgerLine>(
      `WITH queued AS (
         DELETE FROM ledger_unchained WHERE workspace_id = $1 AND entry_id IN (
           SELECT entry_id FROM ledger_unchained WHERE workspace_id = $1 ORDER BY entry_id LIMIT $2)
         RETURNING entry_id
       )
       SELECT ${LINE} FROM queued JOIN ledger_entries l ON l.id = entry_id ORDER BY l.id`,
      [workspaceId, BATCH],
    );
    if (rows.length === 0) return hash;
    const hashes: Buffer[] = [];
    for (const line of rows) {
      hash = chainedHash(hash, line);
      hashes.push(hash);
    }
    await tx.query(
      `INSERT INTO ledger_chain (workspace_id, position, entry_id, hash)
       SELECT $1, $2 + nth, entry_id, hash
       FROM unnest($3::bigint[], $4::bytea[]) WITH ORDINALITY AS added (entry_id, hash, nth)`,
      [workspaceId, position, rows.map((line) => line.id), hashes],
    );
    position += rows.length;
  }
}

async function lastOf(tx: Queryable, workspaceId: string): Promise<{ position: number; hash: Buffer }> {
  const { rows } = await tx.query<{ position: number; hash: Buffer }>(
    'SELECT position, hash FROM ledger_chain WHERE workspace_id = $1 ORDER BY position DESC LIMIT 1',
    [workspaceId],
  );
  return rows[0] ?? { position: 0, hash: FIRST_HASH };
}

/** Yields the chain of a workspace in pages, first entry first. Entries that are not in it yet are left out. */
export async function* readChain(db: Queryable, workspaceId: string): AsyncGenerator<ChainedLine[]> {
  for (let after = 0; ; ) {
    const { rows } = await db.query<LedgerLine & { position: number; hash: Buffer }>(
      `SELECT ${LINE}, c.position, c.hash FROM ledger_chain c JOIN ledger_entries l ON l.id = c.entry_id
       WHERE c.workspace_id = $1 AND c.position > $2 ORDER BY c.position LIMIT $3`,
      [workspaceId, after, BATCH],
    );
    const last = rows.at(-1);
    if (!last) return;
    after = last.position;
    yield rows.map(({ position, hash, ...line }) => ({ position, hash, line }));
  }
}
