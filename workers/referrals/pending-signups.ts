import { referralLinksClicked } from '../../clickhouse/queries/referral-clicks.ts';
import type { JobReaders } from '../../clickhouse/readers/readers.ts';
import { NANOS_PER_MILLI } from '../../core/time/timestamps.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { reportedTogether } from '../../sql/orders/joined-visitors.ts';
import { reportsStoredBefore } from '../../sql/orders/waiting-reports.ts';
import { enrollmentOfLinks } from '../../sql/referrals/referral-links.ts';
import { lockSignupOfUser, nextPendingSignup, type Signup } from '../../sql/referrals/signups.ts';
import { resolveSignup } from '../../sql/transactions/record-signup.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';

const CHUNK = 100;
/** Clocks of the tiers may differ: a click this much newer than its signup may still have led to it. */
const SKEW_MS = 1_000;

type Dependencies = { pool: Pool; readers: JobReaders };

/**
 * Creates the job that resolves signups whose visitor's click was not visible yet when they were reported. Once the
 * watermark has passed a signup, it is matched as if the click had been visible, or dropped without a referrer.
 *
 * A signup that fails stays. The next run continues behind the last one until all were tried, so failing signups do not
 * block others.
 *
 * @returns one run: it returns whether there may be more, and throws the first failure at its end
 */
export function createSignupResolver(dependencies: Dependencies): (now: Date) => Promise<boolean> {
  const { pool } = dependencies;
  let after: Signup | null = null;

  return async function resolvePendingSignups(now) {
    // Read before the clicks, so that all clicks before it are visible.
    const mark = await reportsStoredBefore(pool);
    if (mark === null) return false;
    const before = new Date(Math.floor(mark / 1_000) - SKEW_MS);
    let failure: Error | null = null;
    for (let tried = 0; tried < CHUNK; tried++) {
      after = await nextPendingSignup(pool, before, after);
      if (!after) break;
      // Outside the try, so that a database that is down ends the run.
      const links = await linksClicked(dependencies, after, mark);
      try {
        await resolve({ pool, now }, after, links);
      } catch (error) {
        failure ??= new Error(`failed to resolve signup ${after.id}`, { cause: error });
      }
    }
    if (failure) throw failure;
    return after !== null;
  };
}

/**
 * Returns the referral links that the signup's visitor clicked before it, newest first.
 *
 * @param mark the watermark that has passed the signup
 */
async function linksClicked(
  { pool, readers }: Dependencies,
  signup: Signup,
  mark: number,
): Promise<string[]> {
  if (signup.visitor_id === null) return [];
  const others = await reportedTogether(pool, signup.workspace_id, signup.visitor_id);
  const asked = {
    workspaceId: signup.workspace_id,
    visitorIds: [signup.visitor_id, ...others],
    before: BigInt(signup.reported_at.getTime() + SKEW_MS) * NANOS_PER_MILLI,
  };
  return readers.readUpTo(mark, (clickhouse) => referralLinksClicked(clickhouse, asked));
}

async function resolve(
  { pool, now }: { pool: Pool; now: Date },
  signup: Signup,
  links: readonly string[],
): Promise<void> {
  const workspaceId = signup.workspace_id;
  await inTransaction(pool, async (tx) => {
    // Read again: another report may have changed it, and another worker may have resolved it.
    const still = await lockSignupOfUser(tx, workspaceId, signup.external_user_id);
    if (!still || still.id !== signup.id || (still.state !== 'pending' && !still.correcting)) return;
    const clicked = await enrollmentOfLinks(tx, workspaceId, links);
    const workspace = await workspaceById(tx, workspaceId);
    if (!workspace) throw new Error(`workspace ${workspaceId} does not exist`);
    await resolveSignup(tx, workspace, still, clicked, now);
  });
}
