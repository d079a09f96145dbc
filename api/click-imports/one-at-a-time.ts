import { AppError } from '../../core/errors.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { importsToComplete, importsToRemove } from '../../sql/event-log/click-imports.ts';
import { replicaNames } from '../../sql/event-log/replica-lanes.ts';

/**
 * Runs an import of a workspace, while no other one runs.
 *
 * @throws {AppError} `conflict` while another import runs, while clicks of an undone import are still stored, or while an
 *   interrupted one may be in one of several replicas
 */
export async function oneAtATime<T>(pool: Pool, workspaceId: string, work: () => Promise<T>): Promise<T> {
  const done = await withJobLease(pool, `clickImport/${workspaceId}`, async () => {
    // Clicks of an undone import would be skipped as stored, and then removed.
    const [undone] = await importsToRemove(pool, workspaceId);
    if (undone !== undefined) return 'removing';
    // It may be in one of several replicas of ClickHouse, where its clicks would be skipped as stored.
    const [unfinished] = await importsToComplete(pool, workspaceId);
    if (unfinished !== undefined && (await replicaNames(pool)).length > 1) return 'completing';
    return { result: await work() };
  });
  if (done === null) {
    throw new AppError('conflict', 'another import of clicks is under way in the workspace: try again later');
  }
  if (done === 'removing') {
    throw new AppError(
      'conflict',
      'the clicks of an import that was undone are being removed: try again later',
    );
  }
  if (done === 'completing') {
    throw new AppError(
      'conflict',
      'an import that was interrupted is being completed in each replica of ClickHouse: try again later',
    );
  }
  return done.result;
}
