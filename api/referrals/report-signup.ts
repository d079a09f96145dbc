import { setTimeout as sleep } from 'node:timers/promises';
import { referralLinksClicked } from '../../clickhouse/queries/referral-clicks.ts';
import { freshestOf } from '../../core/event-log/replica-marks.ts';
import { slugOfRefCode } from '../../core/referrals/ref-code.ts';
import { enrollmentOfUser } from '../../sql/referrals/enrollments.ts';
import { hasPurchasedBefore } from '../../sql/referrals/referees.ts';
import { enrollmentOfLinks, enrollmentOfRef } from '../../sql/referrals/referral-links.ts';
import type { Signup } from '../../sql/referrals/signups.ts';
import type { Referrer } from '../../sql/transactions/record-signup.ts';
import type { ApiDeps } from '../dependencies.ts';
import { isUnavailable } from '../plugins/database-errors.ts';
import type { SignupAnswer, SignupBody } from './schemas.ts';

/**
 * How long a report by `_vid` waits for the watermark to pass it: until then a newer click of the visitor may not be
 * visible. The pipeline's target is a second. Milliseconds.
 */
const VISIBLE_WITHIN = 2_000;
const LOOK_EVERY = 40;

/** A page can't claim a user whom a server reported as a buyer longer ago than this. Milliseconds. */
const OPEN_TO_PAGES = 3_600_000;

/** Returns whether a report names the referrer, or says that there is none. */
export const namesReferrer = (body: SignupBody): boolean =>
  body.ref_code !== undefined || body._vid !== undefined || body.referrer_external_user_id !== undefined;

/**
 * Returns whether a page's report of this user can change anything. A server's report and a match stay, and a user who
 * has bought before can't be claimed afterwards.
 */
export async function isOpenToPages(
  { pool }: Pick<ApiDeps, 'pool'>,
  workspaceId: string,
  externalUserId: string,
  known: Signup | null,
  now: Date,
): Promise<boolean> {
  if (known) return !known.by_server && known.state === 'pending';
  const before = new Date(now.getTime() - OPEN_TO_PAGES);
  return !(await hasPurchasedBefore(pool, workspaceId, externalUserId, before));
}

/**
 * Finds the referrer of a signup: by `ref_code`, then the visitor, then `referrer_external_user_id`. The last
 * counts only once no click of the visitor can decide.
 *
 * @param visitorIds the report's `_vid`, or that of an earlier report that is still pending
 * @returns `nobody`: the user was not referred
 */
export async function resolveReferrer(
  deps: Pick<ApiDeps, 'pool' | 'readers'>,
  workspaceId: string,
  body: SignupBody,
  visitorIds: readonly string[],
): Promise<Exclude<Referrer, 'unsaid'>> {
  const { pool } = deps;
  if (body.ref_code) {
    const enrollmentId = await enrollmentOfRef(pool, workspaceId, slugOfRefCode(body.ref_code));
    if (enrollmentId) return { enrollmentId };
  }
  const byVisitor = visitorIds.length > 0 ? await referrerOfVisitors(deps, workspaceId, visitorIds) : 'none';
  if (typeof byVisitor === 'object') return byVisitor;
  const named = body.referrer_external_user_id
    ? await enrollmentOfUser(pool, workspaceId, body.referrer_external_user_id)
    : null;
  if (byVisitor === 'unknown') return { unlessClicked: named?.id ?? null };
  return named ? { enrollmentId: named.id } : 'nobody';
}

async function referrerOfVisitors(
  { pool, readers }: Pick<ApiDeps, 'pool' | 'readers'>,
  workspaceId: string,
  visitorIds: readonly string[],
): Promise<{ enrollmentId: string } | 'unknown' | 'none'> {
  const askedAt = Date.now() * 1_000;
  const began = performance.now();
  let marks = await readers.marks();
  for (;;) {
    // The last attempt starts after the time limit, so that even a delayed process makes one after a pause.
    const isLast = performance.now() - began >= VISIBLE_WITHIN;
    const visible = freshestOf(marks);
    // Without streams there are no clicks.
    if (visible === null || visible >= askedAt) break;
    // A visible click decides nothing yet, because a newer one may not be visible.
    if (isLast) return 'unknown';
    await sleep(LOOK_EVERY);
    marks = await readers.marks();
  }
  const links = await readers
    .readFrom({ marks, atLeast: askedAt }, ({ clickhouse }) =>
      referralLinksClicked(clickhouse, { workspaceId, visitorIds, before: null }),
    )
    .catch(unknownWhileDown);
  if (links === 'unknown') return 'unknown';
  const enrollmentId = await enrollmentOfLinks(pool, workspaceId, links);
  return enrollmentId ? { enrollmentId } : 'none';
}

/** When ClickHouse responds again, workers find the referrer of a pending signup, so its report is not refused. */
function unknownWhileDown(error: unknown): 'unknown' {
  if (!isUnavailable(error)) throw error;
  return 'unknown';
}

/** Returns whether the signup, or its rewards, wait for a review. */
const isHeld = (signup: Pick<Signup, 'state' | 'rewards_held'>): boolean =>
  signup.state === 'held' || signup.rewards_held;

/** Returns the response to a signup report. */
export function signupAnswer(signup: Signup | null): SignupAnswer {
  if (signup?.state !== 'matched' && signup?.state !== 'held') return { matched: false };
  return {
    matched: true,
    program_id: signup.program_id,
    partner_id: signup.enrollment_id,
    blocked: signup.block_reason !== null,
    block_reason: signup.block_reason,
    ...(isHeld(signup) && { status: 'held' as const }),
  };
}
