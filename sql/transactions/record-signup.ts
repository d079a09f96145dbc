import { AppError } from '../../core/errors.ts';
import { signupGrants } from '../../core/referrals/signup-reward.ts';
import type { Queryable } from '../database/pool.ts';
import { type Enrollment, lockEnrollmentShared } from '../referrals/enrollments.ts';
import { grantRecord, insertGrant } from '../referrals/grants.ts';
import { appendEntries } from '../referrals/ledger.ts';
import { type Program, programById } from '../referrals/programs.ts';
import { lockBuyer } from '../referrals/referees.ts';
import {
  deletePendingSignup,
  lockOrInsertSignup,
  type ReferredSignup,
  type Signup,
  type SignupChange,
  type SignupReport,
  updateSignup,
} from '../referrals/signups.ts';
import { queueEvents, type RecordEvent } from '../webhooks/outbox.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { blockReasonFor } from './check-signup.ts';
import { claimUnmatchedOrders, qualifyPurchasesOf, releasePurchases } from './purchases-of-signup.ts';
import { revokeSignupGrants } from './undo-rewards.ts';

/**
 * The referrer in a report. `unsaid`: the report has no such field. `nobody`: the field is empty, or names no referrer.
 * `unlessClicked`: a click that is not visible yet decides; without one, this enrollment, or null for none.
 */
export type Referrer = 'unsaid' | 'nobody' | { enrollmentId: string } | { unlessClicked: string | null };

/**
 * Writes a user's signup and its consequences: the checks, grants, ledger entries, webhook events, and rewards of
 * purchases that waited for it.
 *
 * The first report that names a referrer counts, and a server's report takes precedence over a page's: it binds the
 * user even when it names no referrer, and corrects the referrer that a page named.
 *
 * @returns the signup as it is now; null when a page's report names no referrer, which leaves no row
 * @throws {AppError} `forbidden` when a page reports a signup of a program that accepts only servers' reports
 */
export async function recordSignup(
  tx: Queryable,
  workspace: Workspace,
  report: SignupReport,
  referrer: Referrer,
  now: Date,
): Promise<Signup | null> {
  await lockBuyer(tx, workspace.id, {
    externalUserId: report.external_user_id,
    email: report.email,
    visitorId: report.visitor_id,
  });
  const signup = await lockOrInsertSignup(tx, report, now);
  const isReferred = signup.state === 'held' || signup.state === 'matched';
  const isServers = report.by_server;
  if (!isServers && (signup.by_server || signup.state !== 'pending')) return signup;
  if (isReferred && signup.referrer_by_server) return signup;
  const change: SignupChange = { ...factsOf(signup, report), by_server: signup.by_server || isServers };
  if (referrer === 'unsaid') {
    // No click has to be visible first: this is the first report, or the earlier one was a page's.
    if (isReferred) return refer(tx, workspace, signup, signup.enrollment_id, change, now);
    if (signup.state === 'pending' && (signup.visitor_id !== null || signup.fallback_enrollment_id !== null))
      return updateSignup(tx, signup, change);
    return referNobody(tx, signup, change, workspace, now);
  }
  if (isServers) change.referrer_by_server = true;
  if (referrer === 'nobody') return referNobody(tx, signup, change, workspace, now);
  if ('enrollmentId' in referrer) return refer(tx, workspace, signup, referrer.enrollmentId, change, now);
  const waits = isServers
    ? { visitor_id: report.visitor_id, fallback_enrollment_id: referrer.unlessClicked }
    : {
        visitor_id: signup.visitor_id ?? report.visitor_id,
        fallback_enrollment_id: signup.fallback_enrollment_id ?? referrer.unlessClicked,
      };
  if (!isReferred) return updateSignup(tx, signup, { ...change, ...waits, state: 'pending' });
  // The page's match stays until the click is visible, which confirms or corrects it.
  return updateSignup(tx, signup, { ...change, ...waits, referrer_by_server: false, correcting: true });
}

/**
 * Decides a signup that waited for a click. The caller has locked it.
 *
 * @param clicked the referrer whose link the visitor clicked, or null
 */
export async function resolveSignup(
  tx: Queryable,
  workspace: Workspace,
  signup: Signup,
  clicked: string | null,
  now: Date,
): Promise<void> {
  const enrollmentId = clicked ?? signup.fallback_enrollment_id;
  // A correction is a server's report.
  const change: SignupChange = { referrer_by_server: signup.referrer_by_server || signup.correcting };
  const isAllowed =
    enrollmentId !== null &&
    (change.referrer_by_server || (await takesSignupsOfPages(tx, workspace.id, enrollmentId)));
  if (isAllowed) await refer(tx, workspace, signup, enrollmentId, change, now);
  else await referNobody(tx, signup, change, workspace, now);
}

async function takesSignupsOfPages(
  tx: Queryable,
  workspaceId: string,
  enrollmentId: string,
): Promise<boolean> {
  const enrollment = await lockEnrollmentShared(tx, workspaceId, enrollmentId);
  return (await programOf(tx, enrollment)).terms.signupsFrom === 'any';
}

async function programOf(tx: Queryable, { workspace_id, program_id }: Enrollment): Promise<Program> {
  const program = await programById(tx, workspace_id, program_id);
  if (!program) throw new Error(`program ${program_id} does not exist`);
  return program;
}

/** A server's facts replace a page's; otherwise a later report adds missing facts. */
function factsOf(signup: Signup, report: SignupReport): SignupChange {
  const replaces = report.by_server || signup.state === 'pending';
  const fact = <Value>(own: Value | null, given: Value | null) =>
    replaces ? (given ?? own) : (own ?? given);
  return {
    email: fact(signup.email, report.email),
    device_id: fact(signup.device_id, report.device_id),
    visitor_id: fact(signup.visitor_id, report.visitor_id),
    address_hash: fact(signup.address_hash, report.address_hash),
  };
}

/** Records that no one referred the user. The rewards of a wrong referrer for the user's purchases are reversed. */
async function referNobody(
  tx: Queryable,
  signup: Signup,
  change: SignupChange,
  workspace: Workspace,
  now: Date,
): Promise<Signup | null> {
  const isServers = change.by_server ?? signup.by_server;
  await revokeSignupGrants(tx, signup, [], now);
  await releasePurchases(tx, workspace, signup, now);
  if (!isServers) {
    await deletePendingSignup(tx, signup);
    return null;
  }
  return updateSignup(tx, signup, {
    ...change,
    state: 'unmatched',
    correcting: false,
    rewards_held: false,
    program_id: null,
    enrollment_id: null,
    fallback_enrollment_id: null,
    block_reason: null,
  });
}

/** Records who referred the user. A different present referrer came from a page: its rewards are reversed. */
async function refer(
  tx: Queryable,
  workspace: Workspace,
  signup: Signup,
  enrollmentId: string,
  change: SignupChange,
  now: Date,
): Promise<Signup> {
  const enrollment = await lockEnrollmentShared(tx, workspace.id, enrollmentId);
  const program = await programOf(tx, enrollment);
  const isServers = change.referrer_by_server ?? signup.referrer_by_server;
  if (!isServers && program.terms.signupsFrom === 'server' && signup.enrollment_id === null) {
    throw new AppError('forbidden', 'signups of this program must be reported with a secret key');
  }
  const known = await updateSignup(tx, signup, {
    ...change,
    correcting: false,
    fallback_enrollment_id: null,
  });
  const blockReason = await blockReasonFor(tx, { enrollment, program, signup: known, now });
  const isSame = signup.enrollment_id === enrollmentId;
  // A cap or a suspension that came later does not block a signup that was referred before. The other reasons do: a
  // server's facts may reveal them later.
  const isFound = blockReason !== null && blockReason !== 'suspended' && blockReason !== 'cap';
  if (isSame && (!isFound || signup.block_reason !== null)) return known;
  const review = blockReason === null ? program.terms.review : 'none';
  const referred = await updateSignup(tx, known, {
    state: review === 'signups' ? 'held' : 'matched',
    rewards_held: review === 'rewards',
    program_id: program.id,
    enrollment_id: enrollment.id,
    block_reason: blockReason,
  });
  if (referred.state !== 'held' && referred.state !== 'matched')
    throw new Error('the signup has no referrer');
  await settleReferral(tx, workspace, { program, enrollment, signup: referred }, now);
  return referred;
}

/**
 * Writes the consequences of a decided referral: events, grants, and the outcomes of the user's purchases. For a held
 * referral it only records that the purchases wait. The caller has locked the signup.
 *
 * @param given.isTold whether the event of the match was sent before
 */
export async function settleReferral(
  tx: Queryable,
  workspace: Workspace,
  given: { program: Program; enrollment: Enrollment; signup: ReferredSignup; isTold?: boolean },
  now: Date,
): Promise<void> {
  const { program, enrollment, signup, isTold = false } = given;
  const events: RecordEvent[] = signup.state === 'held' || isTold ? [] : [leadEvent(signup)];
  const waits = signup.state === 'held' || signup.rewards_held;
  const due = waits
    ? []
    : signupGrants(
        program.terms,
        { tier: enrollment.tier, rewardMode: enrollment.reward_mode },
        signup.block_reason,
      );
  const kept = await revokeSignupGrants(tx, signup, due, now);
  for (const { cause, amount, revokedReason } of due) {
    if (kept.has(cause)) continue;
    const externalUserId = cause === 'referee' ? signup.external_user_id : enrollment.external_user_id;
    const { creditKind } = program.terms;
    const grant = await insertGrant(
      tx,
      workspace.id,
      {
        programId: program.id,
        enrollmentId: enrollment.id,
        externalUserId,
        refereeExternalUserId: signup.external_user_id,
        cause,
        signupId: signup.id,
        orderInternalId: null,
        creditKind,
        amount,
        revokedReason,
      },
      now,
    );
    if (revokedReason !== null) continue;
    const entry = {
      grantId: grant.id,
      enrollmentId: enrollment.id,
      externalUserId,
      unit: creditKind,
      amount,
    };
    await appendEntries(tx, workspace.id, [{ ...entry, account: 'credit_earned', cause }], now);
    events.push({ type: 'credit.earned', data: grantRecord(grant) });
  }
  await queueEvents(tx, workspace.id, events);
  await qualifyPurchasesOf(tx, workspace, signup, now);
  await claimUnmatchedOrders(tx, workspace, signup, now);
}

function leadEvent(signup: ReferredSignup): RecordEvent {
  const data = {
    external_user_id: signup.external_user_id,
    email: signup.email,
    visitor_id: signup.visitor_id,
    partner_id: signup.enrollment_id,
    program_id: signup.program_id,
    created_at: signup.reported_at.toISOString(),
  };
  const { block_reason } = signup;
  return block_reason === null
    ? { type: 'lead.created', data }
    : { type: 'lead.blocked', data: { ...data, block_reason } };
}
