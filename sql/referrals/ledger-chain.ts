import {
  type AcceptanceLine,
  type ChainLine,
  chainedHash,
  FIRST_HASH,
  type LedgerLine,
} from '../../core/referrals/ledger-hash.ts';
import { lockNamed } from '../database/advisory-locks.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** Lines in one statement. */
const BATCH = 1_000;

/** SQL: the columns of a {@link LedgerLine}, of an entry `l`. They never change, whatever is erased. */
const ENTRY_LINE = `l.id, ${isoMicros('l.created_at')} AS created_at, l.enrollment_id AS partner_id, l.external_user_id,
  l.account, l.unit, l.amount AS amount_minor, l.cause, l.grant_id, l.commission_id, l.refund_id,
  l.payout_id AS payout_line_id`;

/** SQL: the columns of an {@link AcceptanceLine}, of an acceptance `a` and its terms `t`. They never change either. */
const ACCEPTANCE_LINE = `a.id AS acceptance, ${isoMicros('a.accepted_at')} AS accepted_at, a.application_id,
  a.enrollment_id AS partner_id, t.program_id, t.number AS terms_number, t.version AS terms_version,
  encode(t.sha256, 'hex') AS terms_sha256`;

/** A line with its place in the chain. */
export type ChainedLine = { position: number; hash: Buffer; line: ChainLine };

/**
 * Adds everything visible that is not in the workspace's chain yet, and returns the hash of the last line. Locks the
 * chain until the transaction ends. What transactions wrote that have not committed is added by a later call.
 */
export async function extendChain(tx: Queryable, workspaceId: string): Promise<Buffer> {
  await lockNamed(tx, 'ledgerChain', workspaceId);
  let end = await endOf(tx, workspaceId);
  for (const take of [takeEntries, takeAcceptances]) {
    for (;;) {
      const lines = await take(tx, workspaceId);
      if (lines.length === 0) break;
      const { position } = end;
      const placed = lines.map((line, n) => ({ position: position + n + 1, line }));
      end = {
        position: position + lines.length,
        hash: (await appendLines(tx, workspaceId, end.hash, placed)).hash,
      };
    }
  }
  return end.hash;
}

async function endOf(tx: Queryable, workspaceId: string): Promise<Pick<ChainedLine, 'position' | 'hash'>> {
  const { rows } = await tx.query<Pick<ChainedLine, 'position' | 'hash'>>(
    'SELECT position, hash FROM ledger_chain WHERE workspace_id = $1 ORDER BY position DESC LIMIT 1',
    [workspaceId],
  );
  return rows[0] ?? { position: 0, hash: FIRST_HASH };
}

async function takeEntries(tx: Queryable, workspaceId: string): Promise<LedgerLine[]> {
  const { rows } = await tx.query<LedgerLine>(
    `WITH queued AS (
       DELETE FROM ledger_unchained WHERE workspace_id = $1 AND entry_id IN (
         SELECT entry_id FROM ledger_unchained WHERE workspace_id = $1 ORDER BY entry_id LIMIT $2)
       RETURNING entry_id
     )
     SELECT ${ENTRY_LINE} FROM queued JOIN ledger_entries l ON l.id = entry_id ORDER BY l.id`,
    [workspaceId, BATCH],
  );
  return rows;
}

async function takeAcceptances(tx: Queryable, workspaceId: string): Promise<AcceptanceLine[]> {
  const { rows } = await tx.query<AcceptanceLine>(
    `WITH queued AS (
       DELETE FROM acceptances_unchained WHERE workspace_id = $1 AND acceptance_id IN (
         SELECT acceptance_id FROM acceptances_unchained WHERE workspace_id = $1 ORDER BY acceptance_id LIMIT $2)
       RETURNING acceptance_id
     )
     SELECT ${ACCEPTANCE_LINE} FROM queued JOIN terms_acceptances a ON a.id = acceptance_id
     JOIN program_terms t ON t.id = a.terms_id ORDER BY a.id`,
    [workspaceId, BATCH],
  );
  return rows;
}

/** Appends lines to a chain, and returns the hash of each, and of the last. @param before hash of the line before */
async function appendLines(
  tx: Queryable,
  workspaceId: string,
  before: Buffer,
  lines: readonly Omit<ChainedLine, 'hash'>[],
): Promise<{ hash: Buffer; hashes: Buffer[] }> {
  let hash = before;
  const hashes = lines.map(({ line }) => {
    hash = chainedHash(hash, line);
    return hash;
  });
  await tx.query(
    `INSERT INTO ledger_chain (workspace_id, position, entry_id, acceptance_id, hash)
     SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::uuid[], $5::bytea[])`,
    [
      workspaceId,
      lines.map(({ position }) => position),
      lines.map(({ line }) => ('acceptance' in line ? null : line.id)),
      lines.map(({ line }) => ('acceptance' in line ? line.acceptance : null)),
      hashes,
    ],
  );
  return { hash, hashes };
}

/**
 * Hashes the lines of another chain of the workspace into `ledger_chain`, which has none, each at its position.
 *
 * @param table where the other chain is
 * @param onLines called with the former hash of each line, and with the new one
 */
export async function copyChain(
  tx: Queryable,
  workspaceId: string,
  table: string,
  onLines: (former: readonly Buffer[], hashes: readonly Buffer[]) => Promise<void>,
): Promise<void> {
  let before = FIRST_HASH;
  for await (const page of readChain(tx, workspaceId, table)) {
    const { hash, hashes } = await appendLines(tx, workspaceId, before, page);
    before = hash;
    const former = page.map((line) => line.hash);
    await onLines(former, hashes);
  }
}

/** Returns the id of the entry or acceptance at a position of the chain, whether it is there or gone; null: none. */
export async function idAt(db: Queryable, workspaceId: string, position: number): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT coalesce(entry_id::text, acceptance_id::text) AS id FROM ledger_chain
     WHERE workspace_id = $1 AND position = $2`,
    [workspaceId, position],
  );
  return rows[0]?.id ?? null;
}

type Placed<Line> = Line & { position: number; hash: Buffer };

/**
 * Yields the chain of a workspace in pages, first line first. What is not in it yet is left out, and so is a line whose
 * entry or acceptance is gone.
 *
 * @param table where the chain is
 */
export async function* readChain(
  db: Queryable,
  workspaceId: string,
  table = 'ledger_chain',
): AsyncGenerator<ChainedLine[]> {
  for (let after = 0; ; ) {
    const { rows } = await db.query<{ last: number | null }>(
      `SELECT max(position) AS last FROM (
         SELECT position FROM ${table} WHERE workspace_id = $1 AND position > $2 ORDER BY position LIMIT $3) AS page`,
      [workspaceId, after, BATCH],
    );
    const last = rows[0]?.last ?? null;
    if (last === null) return;
    const range = [workspaceId, after, last];
    const IN_RANGE = 'WHERE c.workspace_id = $1 AND c.position > $2 AND c.position <= $3';
    const entries = await db.query<Placed<LedgerLine>>(
      `SELECT ${ENTRY_LINE}, c.position, c.hash FROM ${table} c JOIN ledger_entries l ON l.id = c.entry_id ${IN_RANGE}`,
      range,
    );
    const acceptances = await db.query<Placed<AcceptanceLine>>(
      `SELECT ${ACCEPTANCE_LINE}, c.position, c.hash FROM ${table} c JOIN terms_acceptances a ON a.id = c.acceptance_id
       JOIN program_terms t ON t.id = a.terms_id ${IN_RANGE}`,
      range,
    );
    after = last;
    yield [...entries.rows, ...acceptances.rows]
      .map(({ position, hash, ...line }) => ({ position, hash, line: line as ChainLine }))
      .toSorted((a, b) => a.position - b.position);
  }
}
