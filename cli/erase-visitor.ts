import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '../clickhouse/client.ts';
import { hideVisitor } from '../clickhouse/erasures.ts';
import { rollUp } from '../clickhouse/rollups/roll-up.ts';
import { withJobLease } from '../sql/database/job-leases.ts';
import { inTransaction, type Pool } from '../sql/database/pool.ts';
import {
  forgetOrdersNaming,
  forgetSignupsNaming,
  forgetVisitors,
  namesOnlyOfVisitor,
  requestErasure,
} from '../sql/erasure/erasures.ts';
import { watermark } from '../sql/event-log/streams.ts';
import { holdPublications } from '../sql/orders/publications.ts';
import { CommandFailed } from './output.ts';
import { recordOperator } from './record-operator.ts';

const RETRY_MS = 500;
const ROLL_UP_WITHIN_MS = 600_000;

type Stores = { pool: Pool; clickhouse: ClickHouseClient };

/**
 * Erases a visitor from every API response. The workers later delete the rows from disk and erase events that were
 * still in the log.
 *
 * Safe to repeat after an interruption, because PostgreSQL, which has the visitor's emails and users, is changed last.
 *
 * @returns the number of clicks (bots included), identifies, and orders removed from the visitor's journey. An order
 *   belongs to the visitor by visitor id, or by an email or user that no other visitor gave. It remains as revenue,
 *   without email, visitor, and user
 * @throws {CommandFailed} when roll-ups hold the lease of the job for ten minutes
 */
export async function eraseVisitor(
  { pool, clickhouse }: Stores,
  { workspaceId, visitorId }: { workspaceId: string; visitorId: string },
): Promise<{ deleted: number }> {
  const names = await namesOnlyOfVisitor(pool, workspaceId, visitorId);
  const erased = { workspaceId, kind: 'visitor', targetId: visitorId } as const;
  const { clicks, identifies, orders } = await inTransaction(pool, async (tx) => {
    await holdPublications(tx);
    const hidden = await hideVisitor(clickhouse, erased, names);
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
  if (clicks > 0) await rebuildRollUps({ pool, clickhouse });
  return { deleted: clicks + identifies + orders };
}

/** Rebuilds the daily roll-ups of the clicks. Waits for a worker's run in progress, which may have counted them. */
async function rebuildRollUps({ pool, clickhouse }: Stores): Promise<void> {
  const micros = await watermark(pool);
  if (micros === null) return;
  const closed = new Date(micros / 1_000).toISOString().slice(0, 10);
  for (let waited = 0; waited < ROLL_UP_WITHIN_MS; waited += RETRY_MS) {
    if ((await withJobLease(pool, 'rollups', () => rollUp(clickhouse, closed))) !== null) return;
    await sleep(RETRY_MS);
  }
  throw new CommandFailed(
    'the visitor is erased, but roll-ups still count the clicks; the next run of the workers corrects them',
  );
}
