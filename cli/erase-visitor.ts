import { setTimeout as sleep } from 'node:timers/promises';
import { type ReplicasToWrite, writeToEach } from '../analytics/replicas/write-to-each.ts';
import { hideVisitor } from '../clickhouse/erasures.ts';
import { RECENT_MS } from '../clickhouse/readers/readers.ts';
import { rollUp } from '../clickhouse/rollups/roll-up.ts';
import { withJobLease } from '../sql/database/job-leases.ts';
import { inTransaction, type Pool, type Queryable } from '../sql/database/pool.ts';
import {
  forgetOrdersNaming,
  forgetSignupsNaming,
  forgetVisitors,
  type Names,
  namesOnlyOfVisitor,
  requestErasure,
} from '../sql/erasure/erasures.ts';
import { replicaWatermark } from '../sql/event-log/replica-marks.ts';
import { recordMissed } from '../sql/event-log/replica-repairs.ts';
import { holdPublications } from '../sql/orders/publications.ts';
import { CommandFailed } from './output.ts';
import { recordOperator } from './record-operator.ts';

const RETRY_MS = 500;
const ROLL_UP_WITHIN_MS = 600_000;

type Stores = ReplicasToWrite & { pool: Pool };

/**
 * Erases a visitor from every API response. The workers later delete the rows from disk and erase events that were
 * still in the log.
 *
 * Safe to repeat after an interruption, because PostgreSQL, which has the visitor's emails and users, is changed last. A
 * replica of ClickHouse that fails is not read until a worker has erased the visitor from it.
 *
 * @returns the number of clicks (bots included), identifies, and orders removed from the visitor's journey. An order
 *   belongs to the visitor by visitor id, or by an email or user that no other visitor gave. It remains as revenue,
 *   without email, visitor, and user
 * @throws {CommandFailed} when roll-ups hold the lease of the job for ten minutes
 */
export async function eraseVisitor(
  { pool, ...clickhouses }: Stores,
  { workspaceId, visitorId }: { workspaceId: string; visitorId: string },
): Promise<{ deleted: number }> {
  const names = await namesOnlyOfVisitor(pool, workspaceId, visitorId);
  const erased = { workspaceId, kind: 'visitor', targetId: visitorId } as const;
  const { clicks, identifies, orders, stored } = await inTransaction(pool, async (tx) => {
    await holdPublications(tx);
    const hidden = await hideInEach(tx, clickhouses, erased, names);
    await requestErasure(tx, { ...erased, names });
    await forgetSignupsNaming(tx, workspaceId, names);
    const forgotten =
      (await forgetVisitors(tx, [erased])) + (await forgetOrdersNaming(tx, workspaceId, names, null));
    await recordOperator(tx, {
      workspaceId,
      action: 'visitor.delete',
      target: { type: 'visitor', id: null },
    });
    return { ...hidden, orders: forgotten };
  });
  await untilReadersKnow(clickhouses, stored);
  if (clicks > 0) {
    const whole = clickhouses.replicas.filter(({ name }) => stored.includes(name));
    await rebuildRollUps({ ...clickhouses, pool, replicas: whole });
  }
  return { deleted: clicks + identifies + orders };
}

/**
 * Hides a visitor in each replica of ClickHouse, and records which ones missed it.
 *
 * @returns how many clicks and identifies there were, and the replicas that hide them
 */
export async function hideInEach(
  tx: Queryable,
  clickhouses: ReplicasToWrite,
  { workspaceId, targetId }: { workspaceId: string; targetId: string },
  names: Names,
): Promise<{ clicks: number; identifies: number; stored: string[] }> {
  const hidden = { clicks: 0, identifies: 0 };
  const stored = await writeToEach(tx, clickhouses, {
    what: 'an erasure',
    async write(clickhouse) {
      const { clicks, identifies } = await hideVisitor(clickhouse, { workspaceId, targetId }, names);
      hidden.clicks = Math.max(hidden.clicks, clicks);
      hidden.identifies = Math.max(hidden.identifies, identifies);
    },
  });
  const subject = `${workspaceId}/visitor/${targetId}`;
  await recordMissed(tx, { stored, of: [{ work: 'erasures', subject }] });
  return { ...hidden, stored };
}

/** Waits until no reader takes a replica that has missed an erasure for one that may be read. */
export async function untilReadersKnow(
  { replicas }: Pick<ReplicasToWrite, 'replicas'>,
  stored: readonly string[],
): Promise<void> {
  if (replicas.some(({ name }) => !stored.includes(name))) await sleep(RECENT_MS);
}

/** Rebuilds the daily roll-ups of the clicks. Waits for a worker's run in progress, which may have counted them. */
async function rebuildRollUps({ pool, replicas }: Stores): Promise<void> {
  const rebuild = async () => {
    for (const { name, clickhouse } of replicas) {
      const micros = await replicaWatermark(pool, name);
      if (micros !== null) await rollUp(clickhouse, new Date(micros / 1_000).toISOString().slice(0, 10));
    }
    return true;
  };
  for (let waited = 0; waited < ROLL_UP_WITHIN_MS; waited += RETRY_MS) {
    if ((await withJobLease(pool, 'rollups', rebuild)) !== null) return;
    await sleep(RETRY_MS);
  }
  throw new CommandFailed(
    'the visitor is erased, but roll-ups still count the clicks; the next run of the workers corrects them',
  );
}
