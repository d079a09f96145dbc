import { AppError } from '../../core/errors.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { importsToRemove } from '../../sql/event-log/click-imports.ts';

/**
 * Runs an import of a workspace, while no other one runs.
 *
 * @throws {AppError} `conflict` while another import runs, or while clicks of an undone import are still stored
 */
export async function oneAtATime<T>(pool: Pool, workspaceId: string, work: () => Promise<T>): Promise<T> {
  const done = await withJobLease(pool, `clickImport/${workspaceId}`, async () => {
    // Clicks of an undone import would be skipped as stored, and then removed.
    const [undone] = await importsToRemove(pool, workspaceId);
    return undone === undefined ? { result: await work() } : 'removing';
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
  return done.result;
}
