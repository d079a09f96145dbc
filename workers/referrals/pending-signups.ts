import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { referralLinksClicked } from '../../clickhouse/questions/referral-clicks.ts';
import { NANOS_PER_MILLI } from '../../core/timestamps.ts';
import { inTransaction, type Pool } from '../../sql/pool.ts';
import { enrollmentOfLinks } from '../../sql/referral-links.ts';
import { recordSignup } from '../../sql/rewards/record-signup.ts';
import { dropPendingSignup, lockSignupOfUser, pendingSignups, type Signup } from '../../sql/signups.ts';
import { watermark } from '../../sql/streams.ts';
import { workspaceById } from '../../sql/workspaces.ts';

const CHUNK = 100;
/** The clocks of the tiers may differ: a click that looks this much newer than its signup still led to it. */
const SKEW_MS = 1_000;

type Dependencies = { pool: Pool; clickhouse: ClickHouseClient; now: Date };

/**
 * Resolves signups that were reported by a visitor whose click was not visible then, once the watermark has passed
 * them: matched as if the click had been there, or dropped because nobody referred them.
 *
 * @returns whether more may be there
 */
export async function resolvePendingSignups(dependencies: Dependencies): Promise<boolean> {
  const { pool } = dependencies;
  // Read before the clicks: what becomes visible in between is then simply newer.
  const mark = await watermark(pool);
  if (mark === null) return false;
  const before = new Date(Math.floor(mark / 1_000) - SKEW_MS);
  const signups = await pendingSignups(pool, before, CHUNK);
  for (const signup of signups) await resolve(dependencies, signup);
  return signups.length === CHUNK;
}

async function resolve({ pool, clickhouse, now }: Dependencies, signup: Signup): Promise<void> {
  const workspaceId = signup.workspace_id;
  const links = signup.visitor_id
    ? await referralLinksClicked(clickhouse, {
        workspaceId,
        visitorId: signup.visitor_id,
        before: BigInt(signup.reported_at.getTime() + SKEW_MS) * NANOS_PER_MILLI,
      })
    : [];
  await inTransaction(pool, async (tx) => {
    const enrollmentId = await enrollmentOfLinks(tx, workspaceId, links);
    const workspace = await workspaceById(tx, workspaceId);
    if (enrollmentId !== null && workspace) {
      await recordSignup(tx, workspace, signup, { enrollmentId }, now);
      return;
    }
    const still = await lockSignupOfUser(tx, workspaceId, signup.external_user_id);
    if (still?.state === 'pending') await dropPendingSignup(tx, workspaceId, still.id);
  });
}
