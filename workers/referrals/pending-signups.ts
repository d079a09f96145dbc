import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { referralLinksClicked } from '../../clickhouse/queries/referral-clicks.ts';
import { NANOS_PER_MILLI } from '../../core/time/timestamps.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { watermark } from '../../sql/event-log/streams.ts';
import { enrollmentOfLinks } from '../../sql/referrals/referral-links.ts';
import {
  deletePendingSignup,
  lockSignupOfUser,
  nextPendingSignup,
  type Signup,
} from '../../sql/referrals/signups.ts';
import { recordSignup } from '../../sql/transactions/record-signup.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';

const CHUNK = 100;
/** The clocks of the tiers may differ: a click that looks this much newer than its signup still led to it. */
const SKEW_MS = 1_000;

type Dependencies = { pool: Pool; clickhouse: ClickHouseClient };

/**
 * The rounds that resolve signups which were reported by a visitor whose click was not visible then, once the
 * watermark has passed them: matched as if the click had been there, or dropped because nobody referred them.
 *
 * A signup that fails stays. A round goes on behind it, and behind where the last one ended until all were tried, so
 * that none waits for those that fail, however many they are.
 *
 * @returns a round: answers whether more may be there, and throws the first failure at its end
 */
export function createSignupResolver(dependencies: Dependencies): (now: Date) => Promise<boolean> {
  const { pool } = dependencies;
  let after: Signup | null = null;

  return async function resolvePendingSignups(now) {
    // Read before the clicks: what becomes visible in between is then simply newer.
    const mark = await watermark(pool);
    if (mark === null) return false;
    const before = new Date(Math.floor(mark / 1_000) - SKEW_MS);
    let failure: Error | null = null;
    for (let tried = 0; tried < CHUNK; tried++) {
      after = await nextPendingSignup(pool, before, after);
      if (!after) break;
      // Outside: a store that is away ends the round.
      const links = await linksClicked(dependencies, after);
      try {
        await resolve({ pool, now }, after, links);
      } catch (error) {
        failure ??= new Error(`signup ${after.id} was not resolved`, { cause: error });
      }
    }
    if (failure) throw failure;
    return after !== null;
  };
}

/** The referral links that the signup's visitor clicked before it, newest first. */
async function linksClicked({ clickhouse }: Dependencies, signup: Signup): Promise<string[]> {
  if (signup.visitor_id === null) return [];
  return referralLinksClicked(clickhouse, {
    workspaceId: signup.workspace_id,
    visitorId: signup.visitor_id,
    before: BigInt(signup.reported_at.getTime() + SKEW_MS) * NANOS_PER_MILLI,
  });
}

async function resolve(
  { pool, now }: { pool: Pool; now: Date },
  signup: Signup,
  links: readonly string[],
): Promise<void> {
  const workspaceId = signup.workspace_id;
  await inTransaction(pool, async (tx) => {
    // As it is now: a report may have added something since, and another worker may have resolved it.
    const still = await lockSignupOfUser(tx, workspaceId, signup.external_user_id);
    if (still?.state !== 'pending' || still.id !== signup.id) return;
    const enrollmentId = (await enrollmentOfLinks(tx, workspaceId, links)) ?? still.fallback_enrollment_id;
    const workspace = await workspaceById(tx, workspaceId);
    if (enrollmentId !== null && workspace) {
      await recordSignup(tx, workspace, still, { enrollmentId }, now);
    } else {
      await deletePendingSignup(tx, workspaceId, still.id);
    }
  });
}
