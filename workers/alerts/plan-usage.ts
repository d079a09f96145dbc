import { countEvents } from '../../clickhouse/queries/events-used.ts';
import type { JobReaders } from '../../clickhouse/readers/readers.ts';
import { limitsOf, usagePeriod } from '../../core/access/plans.ts';
import { NEAR_LIMIT, PLAN_LIMITS, type PlanLimit } from '../../core/alerts/problem-content.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { commissionUsed, countLinks } from '../../sql/workspaces/usage.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';

/** Returns the limits of a workspace's plan that are near or reached, with the percent that is used. */
export async function limitsNear(
  { pool, readers }: { pool: Pool; readers: JobReaders },
  workspace: Workspace,
  now: number,
): Promise<{ limit: PlanLimit; percent: number }[]> {
  const limits = limitsOf(workspace);
  const { start, reset } = usagePeriod(workspace.created_at, new Date(now));
  const usedOf: Record<PlanLimit, () => Promise<number>> = {
    links: () => countLinks(pool, workspace.id, null),
    events: () => readers.read((clickhouse) => countEvents(clickhouse, workspace.id, start, reset)),
    commission: () => commissionUsed(pool, workspace, start, reset),
  };
  const near: { limit: PlanLimit; percent: number }[] = [];
  for (const limit of PLAN_LIMITS) {
    const most = limits[limit];
    // Null: unlimited. 0: the plan has none of it.
    if (!most) continue;
    const used = await usedOf[limit]();
    if (used >= NEAR_LIMIT * most) near.push({ limit, percent: Math.floor((100 * used) / most) });
  }
  return near;
}
