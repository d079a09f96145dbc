import type { ClickHouseClient } from '../../clickhouse/client.ts';
import {
  anonymizeOrders,
  beginRewriting,
  hideLinks,
  isRewriting,
  stillStored,
} from '../../clickhouse/erasures.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { eraseBatchedClicks } from '../../sql/erasure/erased-batches.ts';
import { deleteErasedDeliveries } from '../../sql/erasure/erased-deliveries.ts';
import {
  type Erasure,
  finishErasures,
  forgetOrdersNaming,
  forgetVisitors,
  hasOrdersNaming,
  openErasures,
} from '../../sql/erasure/erasures.ts';
import { watermark } from '../../sql/event-log/streams.ts';
import { holdPublications } from '../../sql/orders/publications.ts';
import type { WorkerMetrics } from '../metrics.ts';

export type EraseDependencies = { pool: Pool; clickhouse: ClickHouseClient; metrics: WorkerMetrics };

const BATCH = 500;
/** Deliveries of clicks that one run deletes. */
const DELIVERIES = 5_000;
/** Batches of clicks that one run rewrites. */
const BATCHES = 100;
const KINDS = ['visitor', 'link'] as const;

/**
 * Continues the open erasures. It reads the rows that are left, so it may be interrupted anywhere. An erasure is done
 * when ClickHouse has no row of its target, the watermark has passed the request, so that every earlier event is
 * stored, and no order is left that only names the target. One worker at a time: two would start the same mutation of
 * ClickHouse twice.
 *
 * @returns whether there may be more deliveries to delete
 */
export async function eraseRequested(dependencies: EraseDependencies): Promise<boolean> {
  const { pool } = dependencies;
  if ((await openErasures(pool, 1, 0)).length === 0) return false;
  return (await withJobLease(pool, 'erasures', () => eraseOpen(dependencies))) ?? false;
}

async function eraseOpen(dependencies: EraseDependencies): Promise<boolean> {
  const { pool } = dependencies;
  const before = (await watermark(pool)) ?? Number.POSITIVE_INFINITY;
  // All of them: erasures that wait for the watermark must not block younger ones.
  for (let after = 0; ; ) {
    const open = await openErasures(pool, BATCH, after);
    const last = open.at(-1);
    if (!last) return false;
    if (await erase(dependencies, open, before)) return true;
    after = last.id;
  }
}

/**
 * Erases names from orders without a visitor. The orders were made before the request, and name an email or user that
 * only the erased visitor had. PostgreSQL comes last, because it tells whether there are any.
 */
async function eraseNames(
  { pool, clickhouse }: Pick<EraseDependencies, 'pool' | 'clickhouse'>,
  { workspaceId, targetId, names, requestedAt }: Erasure,
): Promise<void> {
  if (!(await hasOrdersNaming(pool, workspaceId, names, requestedAt))) return;
  await inTransaction(pool, async (tx) => {
    await holdPublications(tx);
    await anonymizeOrders(clickhouse, { workspaceId, targetId }, names, requestedAt);
    await forgetOrdersNaming(tx, workspaceId, names, requestedAt);
  });
}

/** @returns whether there may be more deliveries to delete */
async function erase(
  { pool, clickhouse, metrics }: EraseDependencies,
  open: readonly Erasure[],
  before: number,
): Promise<boolean> {
  const deliveries = await deleteErasedDeliveries(pool, open, DELIVERIES);
  metrics.cleaned.inc({ what: 'webhook_deliveries' }, deliveries);
  if (deliveries === DELIVERIES) return true;
  if ((await eraseBatchedClicks(pool, open, BATCHES)) === BATCHES) return true;
  await forgetVisitors(pool, open);
  // A worker that has read an order before this has written it to ClickHouse when this resolves.
  await inTransaction(pool, holdPublications);
  await hideLinks(
    clickhouse,
    open.filter((erasure) => erasure.kind === 'link'),
  );
  if (await isRewriting(clickhouse)) return false;
  const done: Erasure[] = [];
  for (const kind of KINDS) {
    const erasures = open.filter((erasure) => erasure.kind === kind);
    const stored = await stillStored(clickhouse, kind, erasures);
    const left = erasures.filter((erasure) => stored.has(erasure.targetId));
    await beginRewriting(clickhouse, kind, left);
    done.push(...erasures.filter((erasure) => !stored.has(erasure.targetId) && erasure.requestedAt < before));
  }
  for (const erasure of done) await eraseNames({ pool, clickhouse }, erasure);
  await finishErasures(pool, done);
  metrics.cleaned.inc({ what: 'erasures' }, done.length);
  return false;
}
