import type { Queryable } from '../database/pool.ts';

/** Steps of a workspace's first day, in order. */
export const FIRST_STEPS = [
  'link',
  'click',
  'pixel',
  'conversion',
  'domain',
  'colleague',
  'api_key',
] as const;
export type FirstStep = (typeof FIRST_STEPS)[number];

/** Steps whose state PostgreSQL knows: SQL that is true once they are done. */
const DONE: Record<Exclude<FirstStep, 'click'>, string> = {
  link: 'EXISTS (SELECT FROM links WHERE workspace_id = $1)',
  // Counts only the pixel's calls: other calls with a publishable key come from the embed, an app, or people who try
  // the API.
  pixel: `EXISTS (SELECT FROM api_keys WHERE workspace_id = $1 AND pixel_seen_at IS NOT NULL)
    OR EXISTS (SELECT FROM pixel_tests t JOIN pixel_test_calls c ON c.test_id = t.id WHERE t.workspace_id = $1)`,
  conversion: `EXISTS (SELECT FROM orders WHERE workspace_id = $1) OR EXISTS (SELECT FROM leads WHERE workspace_id = $1)`,
  domain: `EXISTS (SELECT FROM domains WHERE workspace_id = $1 AND status <> 'pending')`,
  colleague: '(SELECT count(*) FROM members WHERE workspace_id = $1) > 1',
  api_key: `EXISTS (SELECT FROM api_keys WHERE workspace_id = $1 AND kind = 'secret' AND last_used_at IS NOT NULL)`,
};

/** Returns the steps that are recorded as done. */
export async function knownSteps(db: Queryable, workspaceId: string): Promise<FirstStep[]> {
  const { rows } = await db.query<{ step: FirstStep }>(
    'SELECT step FROM first_steps WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows.map(({ step }) => step);
}

/** Returns which of these steps are done now. It leaves out `click`, which is read from ClickHouse. */
export async function stepsDone(
  db: Queryable,
  workspaceId: string,
  steps: readonly FirstStep[],
): Promise<FirstStep[]> {
  const asked = steps.filter((step) => step !== 'click');
  if (asked.length === 0) return [];
  const text = asked.map((step) => `(${DONE[step]}) AS ${step}`).join(', ');
  const { rows } = await db.query<Partial<Record<FirstStep, boolean>>>(`SELECT ${text}`, [workspaceId]);
  return asked.filter((step) => rows[0]?.[step] === true);
}

/** Records that steps are done. With the last of them, the workspace's first steps end. */
export async function recordSteps(
  db: Queryable,
  workspaceId: string,
  steps: readonly FirstStep[],
): Promise<void> {
  await db.query(
    `WITH new AS (
       INSERT INTO first_steps (workspace_id, step) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING RETURNING step)
     UPDATE workspaces SET first_steps_ended_at = now() WHERE id = $1 AND first_steps_ended_at IS NULL
       AND (SELECT count(*) FROM (SELECT step FROM first_steps WHERE workspace_id = $1 UNION SELECT step FROM new) AS s) = $3`,
    [workspaceId, steps, FIRST_STEPS.length],
  );
}

/** Hides the steps from a member, or shows them again. */
export async function hideStepsFrom(db: Queryable, memberId: string, isHidden: boolean): Promise<void> {
  await db.query('UPDATE members SET first_steps_hidden_at = CASE WHEN $2 THEN now() END WHERE id = $1', [
    memberId,
    isHidden,
  ]);
}

/** Hides the steps from all members of a workspace, or shows them again. */
export async function hideSteps(db: Queryable, workspaceId: string, isHidden: boolean): Promise<void> {
  await db.query('UPDATE workspaces SET first_steps_ended_at = CASE WHEN $2 THEN now() END WHERE id = $1', [
    workspaceId,
    isHidden,
  ]);
}
