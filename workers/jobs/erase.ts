import type { ClickHouseClient } from '../../clickhouse/client.ts';
import {
  anonymizeOrders,
  beginRewriting,
  hideLinks,
  isRewriting,
  stillStored,
} from '../../clickhouse/erasures.ts';
import type { Pool } from '../../sql/database/pool.ts';
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
import type { WorkerMetrics } from '../metrics.ts';

export type EraseDependencies = { pool: Pool; clickhouse: ClickHouseClient; metrics: WorkerMetrics };

const BATCH = 500;
/** Deliveries of clicks that go in one round. */
const DELIVERIES = 5_000;
const KINDS = ['visitor', 'link'] as const;

/**
 * One round of erasing. It looks at what is left instead of remembering what it has begun, so it can be cut off
 * anywhere: an erasure is done when the store holds no row of its target and the watermark has passed the
 * request, so that no event from before it is still on its way, and no order is left that only names the target.
 *
 * @returns whether more deliveries may be there; else false: what is being rewritten needs time
 */
export async function eraseRequested(dependencies: EraseDependencies): Promise<boolean> {
  const { pool } = dependencies;
  const before = (await watermark(pool)) ?? Number.POSITIVE_INFINITY;
  // All of them: those that only wait for the watermark must not keep younger ones from being begun.
  for (let after = 0; ; ) {
    const open = await openErasures(pool, BATCH, after);
    const last = open.at(-1);
    if (!last) return false;
    if (await erase(dependencies, open, before)) return true;
    after = last.id;
  }
}

/**
 * Orders that name no visitor, but what the erased one alone was known by, and that were on their way when the erasure was asked for:
 * who buys again later has come back. PostgreSQL forgets last, because it tells whether there are any.
 */
async function eraseNames(
  { pool, clickhouse }: Pick<EraseDependencies, 'pool' | 'clickhouse'>,
  { workspaceId, targetId, names, requestedAt }: Erasure,
): Promise<void> {
  if (!(await hasOrdersNaming(pool, workspaceId, names, requestedAt))) return;
  await anonymizeOrders(clickhouse, { workspaceId, targetId }, names, requestedAt);
  await forgetOrdersNaming(pool, workspaceId, names, requestedAt);
}

/** @returns whether more deliveries may be there */
async function erase(
  { pool, clickhouse, metrics }: EraseDependencies,
  open: readonly Erasure[],
  before: number,
): Promise<boolean> {
  const deliveries = await deleteErasedDeliveries(pool, open, DELIVERIES);
  metrics.cleaned.inc({ what: 'webhook_deliveries' }, deliveries);
  if (deliveries === DELIVERIES) return true;
  await forgetVisitors(pool, open);
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
