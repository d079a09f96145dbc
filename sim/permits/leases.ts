import type { Lease, LeaseResult, PermitUse, StreamLeases } from '../../sql/links/leases.ts';
import type { Network } from '../world/network.ts';
import type { LeaseRow, LeaseTable, Transaction } from './lease-table.ts';

/**
 * `sql/links/leases.ts` on tables in memory: the same functions, in place of their SQL. `leases.test.ts` plays the same
 * random calls on both.
 */

/** What a process has in place of a pool: its way to the tables. */
export type LeasePool = { network: Network; table: LeaseTable };
/** Of a worker's transaction. */
export type LeaseTransaction = { table: LeaseTable; transaction: Transaction };

const LARGEST_CHUNK = 1_024;
const CHUNK_DIVISOR = 16;

/** Runs a transaction whose commit is a request of its own: a server that loses its client rolls back. */
async function inTransaction<T>(
  { network, table }: LeasePool,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const open = await network.ask(
    () => table.open(work),
    ({ rollback }) => rollback(),
  );
  try {
    await network.ask(open.commit);
  } catch (error) {
    // Where the request for it was lost. A late one has come before.
    network.later(open.rollback);
    throw error;
  }
  return open.result;
}

export function leasePermits(
  pool: LeasePool,
  { linkId, streamId, needed }: { linkId: string; streamId: string; needed: number },
): Promise<LeaseResult> {
  const { table } = pool;
  return inTransaction(pool, async (transaction): Promise<LeaseResult> => {
    await transaction.lockLink(linkId);
    await transaction.statement();
    const link = table.links.get(linkId);
    const isThere = link !== undefined && !link.isDeleted;
    if (isThere && link.maxClicks === null) return { kind: 'unlimited' };
    const sums = { total: 0, held: 0, own: 0, othersIdle: 0 };
    for (const lease of table.leases.values()) {
      if (lease.linkId !== linkId) continue;
      sums.total += lease.granted;
      sums.held += Math.max(lease.granted, lease.used);
      if (lease.streamId === streamId) sums.own += lease.granted;
      else if (table.streams.get(lease.streamId)?.isActive) {
        sums.othersIdle += Math.max(lease.granted - lease.used, 0);
      }
    }
    if (!isThere || link.maxClicks === null) return { kind: 'gone', granted: sums.own };
    const left = link.maxClicks - sums.held;
    if (left <= 0) {
      const excess = Math.max(0, sums.total - link.maxClicks);
      return { kind: 'none_left', granted: sums.own, spent: sums.othersIdle === 0, excess };
    }
    if (needed === 0) return { kind: 'granted', granted: sums.own, remaining: left };
    const take = Math.min(left, Math.max(needed, Math.min(LARGEST_CHUNK, Math.ceil(left / CHUNK_DIVISOR))));
    await transaction.statement();
    await transaction.lockLease(linkId, streamId);
    const before = table.leaseOf(linkId, streamId) ?? empty(linkId, streamId);
    const lease = { ...before, granted: Math.max(before.granted, before.used) + take };
    transaction.write(() => table.setLease(lease));
    return { kind: 'granted', granted: lease.granted, remaining: left - take };
  });
}

export function claimLease(
  { network, table }: LeasePool,
  { linkId, streamId }: { linkId: string; streamId: string },
): Promise<Lease> {
  return network.ask(() =>
    table.transaction(async (transaction) => {
      // A row that is not committed yet is not seen, and not waited for.
      if (!table.leaseOf(linkId, streamId)) return { granted: 0, used: 0, generation: 0 };
      await transaction.lockLease(linkId, streamId);
      const before = table.leaseOf(linkId, streamId);
      if (!before) return { granted: 0, used: 0, generation: 0 };
      const lease = { ...before, generation: before.generation + 1 };
      transaction.write(() => table.setLease(lease));
      return { granted: lease.granted, used: lease.used, generation: lease.generation };
    }),
  );
}

export function returnPermits(
  { network, table }: LeasePool,
  given: { linkId: string; streamId: string; count: number; generation: number },
): Promise<number | null> {
  const { linkId, streamId, count, generation } = given;
  return network.ask(() =>
    table.transaction(async (transaction) => {
      await transaction.lockLease(linkId, streamId);
      const before = table.leaseOf(linkId, streamId);
      if (before?.generation !== generation) return null;
      const lease = { ...before, granted: before.granted - count };
      transaction.write(() => table.setLease(lease));
      return lease.granted;
    }),
  );
}

export function leasesOfStream({ network, table }: LeasePool, streamId: string): Promise<StreamLeases> {
  return network.ask(() =>
    table.transaction(async () => ({
      highWater: table.streams.get(streamId)?.highWater ?? -1n,
      isMissing: false,
      leases: [...table.leases.values()]
        .filter((lease) => lease.streamId === streamId && lease.granted !== lease.used)
        .map(({ linkId, used }) => ({ link_id: linkId, used })),
    })),
  );
}

export async function addUsedPermits(
  { table, transaction }: LeaseTransaction,
  uses: readonly PermitUse[],
): Promise<void> {
  const sorted = [...uses].sort((a, b) => (`${a.linkId}${a.streamId}` < `${b.linkId}${b.streamId}` ? -1 : 1));
  for (const { linkId, streamId, clicks } of sorted) {
    if (!table.links.has(linkId)) continue;
    await transaction.lockLease(linkId, streamId);
    const before = table.leaseOf(linkId, streamId) ?? empty(linkId, streamId);
    const lease = { ...before, used: before.used + clicks };
    transaction.write(() => table.setLease(lease));
  }
}

function empty(linkId: string, streamId: string): LeaseRow {
  return { linkId, streamId, granted: 0, used: 0, generation: 0 };
}
