import { uuidv7 } from '../../core/ids.ts';
import type { ReportProblem } from '../../core/tracking/report-problems.ts';
import type { Queryable } from '../database/pool.ts';

/** Hours for which a page may report to a test. */
export const TEST_HOURS = 1;
/** Stored calls of one test, limited because anyone who knows its id can report to it. */
export const TEST_CALLS_LIMIT = 200;
/** Stored tests of a workspace, the newest. */
const TESTS_KEPT = 20;

/** A report that the pixel sent in a test, without personal data. */
export type TestCall = {
  type: 'test' | 'identify' | 'order' | 'unknown';
  outcome: 'recorded' | 'corrected' | 'refused';
  /** How many visitor ids the report had. */
  visitors: number;
  /** The fields that identify the person. */
  names: ('email' | 'external_user_id')[];
  order: { order_id: string; amount: number; currency: string } | null;
  problems: { problem: ReportProblem; field: string; example: string | null }[];
};

/** Starts a test of the page at `url`, and deletes old ones. @returns its id */
export async function createPixelTest(db: Queryable, workspaceId: string, url: string): Promise<string> {
  const id = uuidv7();
  await db.query(
    `WITH old AS (
       DELETE FROM pixel_tests WHERE created_at < now() - interval '1 day' OR id IN (
         SELECT id FROM pixel_tests WHERE workspace_id = $2 ORDER BY created_at DESC OFFSET ${TESTS_KEPT})
     )
     INSERT INTO pixel_tests (id, workspace_id, url) VALUES ($1, $2, $3)`,
    [id, workspaceId, url],
  );
  return id;
}

/** Adds calls to tests that run in their workspace. Others, and calls beyond the limit, are left out. */
export async function addTestCalls(
  db: Queryable,
  calls: readonly { testId: string; workspaceId: string; at: Date; call: TestCall }[],
): Promise<void> {
  if (calls.length === 0) return;
  await db.query(
    `INSERT INTO pixel_test_calls (test_id, at, call)
     SELECT test.id, new.at, new.call
     FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::jsonb[]) WITH ORDINALITY
       AS new (test_id, workspace_id, at, call, position)
     JOIN pixel_tests AS test ON test.id = new.test_id AND test.workspace_id = new.workspace_id
       AND test.created_at > now() - interval '${TEST_HOURS} hours'
     WHERE (SELECT count(*) FROM pixel_test_calls AS known WHERE known.test_id = test.id) < ${TEST_CALLS_LIMIT}
     ORDER BY new.position`,
    [
      calls.map((one) => one.testId),
      calls.map((one) => one.workspaceId),
      calls.map((one) => one.at),
      calls.map((one) => JSON.stringify(one.call)),
    ],
  );
}

/** Returns a test of the workspace with its calls, oldest first; null: there is none. */
export async function pixelTest(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<{ id: string; url: string; created_at: Date; calls: (TestCall & { at: Date })[] } | null> {
  const { rows } = await db.query<{ id: string; url: string; created_at: Date }>(
    'SELECT id, url, created_at FROM pixel_tests WHERE workspace_id = $1 AND id = $2',
    [workspaceId, id],
  );
  if (!rows[0]) return null;
  const calls = await db.query<{ at: Date; call: TestCall }>(
    `SELECT at, call FROM pixel_test_calls WHERE test_id = $1 ORDER BY id LIMIT ${TEST_CALLS_LIMIT}`,
    [id],
  );
  return { ...rows[0], calls: calls.rows.map(({ at, call }) => ({ ...call, at })) };
}
