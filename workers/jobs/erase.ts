import { writeToEach } from '../../analytics/replicas/write-to-each.ts';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import {
  anonymizeOrders,
  beginRewriting,
  hideLinks,
  isRewriting,
  stillStored,
} from '../../clickhouse/erasures.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Logger } from '../../core/tier/log.ts';
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
import { type ReplicaProgress, replicaProgress } from '../../sql/event-log/replica-marks.ts';
import { recordMissed } from '../../sql/event-log/replica-repairs.ts';
import { holdPublications } from '../../sql/orders/publications.ts';
import type { WorkerMetrics } from '../metrics.ts';

export type EraseDependencies = {
  pool: Pool;
  replicas: readonly Replica[];
  metrics: WorkerMetrics;
  log: Pick<Logger, 'warn'>;
};

const BATCH = 500;
/** Deliveries of clicks that one run deletes. */
const DELIVERIES = 5_000;
/** Batches of clicks that one run rewrites. */
const BATCHES = 100;
const KINDS = ['visitor', 'link'] as const;

/**
 * Continues the open erasures. It reads the rows that are left, so it may be interrupted anywhere. An erasure is done
 * when no replica of ClickHouse has a row of its target, the watermark of each has passed the request, so that every
 * earlier event is stored there, none has missed a write that could bring one back, and no order is left that only names
 * the target. One worker at a time: two would start the same mutation of ClickHouse twice.
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
  const all = await replicaProgress(pool);
  // All of them: erasures that wait for the watermark must not block younger ones.
  for (let after = 0; ; ) {
    const open = await openErasures(pool, BATCH, after);
    const last = open.at(-1);
    if (!last) return false;
    if (await erase(dependencies, open, all)) return true;
    after = last.id;
  }
}

/**
 * Erases names from orders without a visitor. The orders were made before the request, and name an email or user that
 * only the erased visitor had. PostgreSQL comes last, because it tells whether there are any.
 *
 * @returns false when a replica has failed to
 */
async function eraseNames(
  { pool, ...clickhouses }: EraseDependencies,
  { workspaceId, targetId, names, requestedAt }: Erasure,
): Promise<boolean> {
  if (!(await hasOrdersNaming(pool, workspaceId, names, requestedAt))) return true;
  return inTransaction(pool, async (tx) => {
    await holdPublications(tx);
    const stored = await writeToEach(tx, clickhouses, {
      what: 'an erasure',
      write: (clickhouse) => anonymizeOrders(clickhouse, { workspaceId, targetId }, names, requestedAt),
    });
    // Their names are forgotten with the erasure, so it has to reach all of them first.
    if (clickhouses.replicas.some(({ name }) => !stored.includes(name))) return false;
    await forgetOrdersNaming(tx, workspaceId, names, requestedAt);
    return true;
  });
}

/** @returns whether there may be more deliveries to delete */
async function erase(
  dependencies: EraseDependencies,
  open: readonly Erasure[],
  all: readonly ReplicaProgress[],
): Promise<boolean> {
  const { pool, replicas, metrics, log } = dependencies;
  const deliveries = await deleteErasedDeliveries(pool, open, DELIVERIES);
  metrics.cleaned.inc({ what: 'webhook_deliveries' }, deliveries);
  if (deliveries === DELIVERIES) return true;
  if ((await eraseBatchedClicks(pool, open, BATCHES)) === BATCHES) return true;
  await forgetVisitors(pool, open);
  // A worker that has read an order before this has written it to ClickHouse when this resolves.
  await inTransaction(pool, holdPublications);
  await hideInEach(
    dependencies,
    open.filter((erasure) => erasure.kind === 'link'),
    all,
  );
  const ended = await Promise.allSettled(replicas.map(({ clickhouse }) => eraseFrom(clickhouse, open)));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed && replicas.length === 1) throw failed.reason;
  if (failed) log.warn({ err: failed.reason }, 'a replica of ClickHouse failed; erasures wait for it');
  const gone = new Map(
    replicas.flatMap(({ name }, n) => {
      const one = ended[n];
      return one?.status === 'fulfilled' ? [[name, one.value] as const] : [];
    }),
  );
  const done = open.filter((erasure) =>
    all.every(
      ({ name, isOut, watermark }) =>
        !isOut &&
        gone.get(name)?.has(erasure.id) &&
        erasure.requestedAt < (watermark ?? Number.POSITIVE_INFINITY),
    ),
  );
  const finished: Erasure[] = [];
  for (const erasure of done) {
    if (await eraseNames(dependencies, erasure)) finished.push(erasure);
  }
  await finishErasures(
    pool,
    finished,
    all.map(({ name }) => name),
  );
  metrics.cleaned.inc({ what: 'erasures' }, finished.length);
  return false;
}

/** Hides links in each replica. One that misses it is not read until it has hidden them. */
async function hideInEach(
  { pool, ...clickhouses }: EraseDependencies,
  links: readonly Erasure[],
  all: readonly ReplicaProgress[],
): Promise<void> {
  if (links.length === 0) return;
  const stored = await writeToEach(pool, clickhouses, {
    what: 'deleted links',
    write: (clickhouse) => hideLinks(clickhouse, links),
  });
  if (all.every(({ name }) => stored.includes(name))) return;
  await recordMissed(pool, {
    stored,
    of: links.map(({ workspaceId, targetId }) => ({
      work: 'erasures',
      subject: `${workspaceId}/link/${targetId}`,
    })),
  });
}

/**
 * Starts to remove the rows of erasures from a replica.
 *
 * @returns the ids of those of which it has no row
 */
async function eraseFrom(clickhouse: ClickHouseClient, open: readonly Erasure[]): Promise<Set<number>> {
  const gone = new Set<number>();
  if (await isRewriting(clickhouse)) return gone;
  for (const kind of KINDS) {
    const erasures = open.filter((erasure) => erasure.kind === kind);
    const stored = await stillStored(clickhouse, kind, erasures);
    await beginRewriting(
      clickhouse,
      kind,
      erasures.filter((erasure) => stored.has(erasure.targetId)),
    );
    for (const { id, targetId } of erasures) if (!stored.has(targetId)) gone.add(id);
  }
  return gone;
}
