import { chainedHash, FIRST_HASH } from '../core/referrals/ledger-hash.ts';
import { type Replayed, replayCommission, replayGrant } from '../core/referrals/ledger-replay.ts';
import { inTransaction, type Pool, type Queryable } from '../sql/database/pool.ts';
import { idAt, readChain } from '../sql/referrals/ledger-chain.ts';
import {
  countEntries,
  readCommissions,
  readGrants,
  sumsByUser,
  wrongPayouts,
} from '../sql/referrals/ledger-replay.ts';
import { alteredTerms, unchainedAcceptances } from '../sql/referrals/program-terms.ts';

/** A mismatch that the replay found. Amounts in a problem are minor units, or hundredths of a credit. */
export type Wrong = {
  workspace_id: string;
  what: 'commission' | 'grant' | 'payout_line' | 'balance' | 'terms' | 'chain';
  /** The id of the commission, grant, payout line, version of terms, entry or acceptance; null for a balance. */
  id: string | null;
  /** The user with this balance; null for terms and the chain. */
  external_user_id: string | null;
  problem: string;
};

export type Verified = { ok: boolean; entries: number; wrong: Wrong[] };

/**
 * Plays the ledger of these workspaces again and compares it with the records, the payouts, every balance and the hash
 * chain, and the terms of programs with their hashes. Reads one snapshot and writes nothing, so it may run beside the
 * service.
 */
export async function verifyLedger(pool: Pool, workspaceIds: readonly string[]): Promise<Verified> {
  const wrong: Wrong[] = [];
  let entries = 0;
  for (const workspaceId of workspaceIds) {
    await inTransaction(pool, async (tx) => {
      await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      entries += await verifyWorkspace(tx, workspaceId, (found) =>
        wrong.push({ workspace_id: workspaceId, ...found }),
      );
    });
  }
  return { ok: wrong.length === 0, entries, wrong };
}

type Report = (found: Omit<Wrong, 'workspace_id'>) => void;

async function verifyWorkspace(tx: Queryable, workspaceId: string, report: Report): Promise<number> {
  const balances = new Map<string, number>();
  const add = (user: string, unit: string, { account, expected }: Replayed) => {
    if (account === null) return;
    const key = JSON.stringify([user, account, unit]);
    balances.set(key, (balances.get(key) ?? 0) + expected);
  };
  for await (const page of readCommissions(tx, workspaceId)) {
    for (const commission of page) {
      const replayed = replayCommission(commission, commission.entries);
      add(commission.external_user_id, commission.currency, replayed);
      const { id, external_user_id } = commission;
      for (const problem of replayed.problems) report({ what: 'commission', id, external_user_id, problem });
    }
  }
  for await (const page of readGrants(tx, workspaceId)) {
    for (const grant of page) {
      const replayed = replayGrant(grant, grant.entries);
      add(grant.external_user_id, grant.credit_kind, replayed);
      const { external_user_id } = grant;
      for (const problem of replayed.problems) {
        report({ what: 'grant', id: String(grant.id), external_user_id, problem });
      }
    }
  }
  for (const { id, external_user_id, expected, found } of await wrongPayouts(tx, workspaceId)) {
    const problem = `its entries sum to ${found}, expected ${expected}`;
    report({ what: 'payout_line', id, external_user_id, problem });
  }
  await compareBalances(tx, workspaceId, balances, report);
  const { entries, unchained } = await countEntries(tx, workspaceId);
  for (const id of unchained) {
    report({
      what: 'chain',
      id: String(id),
      external_user_id: null,
      problem: 'the entry is not in the chain, and not queued for it',
    });
  }
  for (const id of await unchainedAcceptances(tx, workspaceId)) {
    const problem = 'the acceptance is not in the chain, and not queued for it';
    report({ what: 'chain', id, external_user_id: null, problem });
  }
  for (const id of await alteredTerms(tx, workspaceId)) {
    const problem = 'the SHA-256 is not that of the text or address';
    report({ what: 'terms', id, external_user_id: null, problem });
  }
  await verifyChain(tx, workspaceId, report);
  return entries;
}

async function compareBalances(
  tx: Queryable,
  workspaceId: string,
  expected: ReadonlyMap<string, number>,
  report: Report,
): Promise<void> {
  const found = new Map(
    (await sumsByUser(tx, workspaceId)).map(({ external_user_id, account, unit, amount }) => [
      JSON.stringify([external_user_id, account, unit]),
      Number(amount),
    ]),
  );
  for (const key of new Set([...expected.keys(), ...found.keys()])) {
    const [user, account, unit] = JSON.parse(key) as [string, string, string];
    const [right, is] = [expected.get(key) ?? 0, found.get(key) ?? 0];
    if (right === is) continue;
    const problem = `${account} has ${is} ${unit}, expected ${right}`;
    report({ what: 'balance', id: null, external_user_id: user, problem });
  }
}

/** Reports the first link of the chain that does not hold: every later one would not hold either. */
async function verifyChain(tx: Queryable, workspaceId: string, report: Report): Promise<void> {
  let before = FIRST_HASH;
  let expected = 1;
  for await (const page of readChain(tx, workspaceId)) {
    for (const { position, hash, line } of page) {
      const right = chainedHash(before, line);
      if (position === expected && right.equals(hash)) {
        before = hash;
        expected += 1;
        continue;
      }
      const problem =
        position === expected
          ? `the hash at position ${position} is ${hash.toString('hex')}, expected ${right.toString('hex')}`
          : `the chain continues at position ${position}, expected ${expected}`;
      const id = 'acceptance' in line ? line.acceptance : String(line.id);
      report({ what: 'chain', id, external_user_id: null, problem });
      return;
    }
  }
  // Lines at the end that are in the chain alone.
  const gone = await idAt(tx, workspaceId, expected);
  if (gone !== null)
    report({
      what: 'chain',
      id: gone,
      external_user_id: null,
      problem: `the line at position ${expected} is gone`,
    });
}
