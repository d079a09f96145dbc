import { blockReasonOf, isOneMailbox } from '../../core/referrals/self-referral.ts';
import { signupGrants } from '../../core/referrals/signup-reward.ts';
import type { BlockReason } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import { type Enrollment, lockEnrollmentShared } from '../referrals/enrollments.ts';
import { grantRecord, insertGrant } from '../referrals/grants.ts';
import { appendEntries } from '../referrals/ledger.ts';
import { type Program, programById } from '../referrals/programs.ts';
import { pendingPurchases } from '../referrals/purchases.ts';
import {
  completePendingSignup,
  lockOrInsertSignup,
  type MatchedSignup,
  matchSignup,
  type Signup,
  type SignupReport,
  signupOfUser,
  visitorTraits,
} from '../referrals/signups.ts';
import { queueEvents, type RecordEvent } from '../webhooks/outbox.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { qualifyPendingPurchase } from './qualify-purchase.ts';

/**
 * The enrollment that referred a user. `unlessClicked`: a click that is not visible yet decides; without one, this
 * enrollment, or null for none.
 */
export type Referrer = { enrollmentId: string } | { unlessClicked: string | null };

/**
 * Writes a user's signup once, with all that it causes: the self-referral check, grants, ledger entries, webhook
 * events, and rewards of purchases that waited for it. A matched user keeps its referrer.
 *
 * @returns the signup, matched or pending
 */
export async function recordSignup(
  tx: Queryable,
  workspace: Workspace,
  report: SignupReport,
  referrer: Referrer,
  now: Date,
): Promise<Signup> {
  const signup = await lockOrInsertSignup(tx, report, now);
  if (signup.state === 'matched') return signup;
  if ('unlessClicked' in referrer) {
    return completePendingSignup(tx, signup, report, referrer.unlessClicked);
  }
  const enrollment = await lockEnrollmentShared(tx, workspace.id, referrer.enrollmentId);
  const program = await programById(tx, workspace.id, enrollment.program_id);
  if (!program) throw new Error(`program ${enrollment.program_id} does not exist`);
  const blockReason = await checkSelfReferral(tx, enrollment, mergeReports(signup, report));
  const matched = await matchSignup(
    tx,
    signup,
    { programId: program.id, enrollmentId: enrollment.id, blockReason },
    report,
  );
  const events: RecordEvent[] = blockReason === null ? [leadCreated(matched)] : [];
  events.push(...(await grantForSignup(tx, program, enrollment, matched, now)));
  await queueEvents(tx, workspace.id, events);
  for (const purchase of await pendingPurchases(tx, matched.id)) {
    await qualifyPendingPurchase(tx, workspace, matched, purchase, now);
  }
  return matched;
}

/** Combines this report with an earlier one that did not match. */
function mergeReports(signup: Signup, report: SignupReport): SignupReport {
  return {
    workspace_id: signup.workspace_id,
    external_user_id: signup.external_user_id,
    email: report.email ?? signup.email,
    device_id: report.device_id ?? signup.device_id,
    visitor_id: report.visitor_id ?? signup.visitor_id,
    address_hash: report.address_hash ?? signup.address_hash,
  };
}

async function checkSelfReferral(
  tx: Queryable,
  enrollment: Enrollment,
  report: SignupReport,
): Promise<BlockReason | null> {
  const { workspace_id: workspaceId } = enrollment;
  const own = await signupOfUser(tx, workspaceId, enrollment.external_user_id);
  const emails = [enrollment.email, own?.email].filter((email) => typeof email === 'string');
  const deviceIds = [enrollment.device_id, own?.device_id].filter((id) => typeof id === 'string');
  const visitor = report.visitor_id ? await visitorTraits(tx, workspaceId, report.visitor_id) : null;
  return blockReasonOf(
    {
      externalUserId: enrollment.external_user_id,
      status: enrollment.status,
      emails,
      deviceIds,
      addressHash: enrollment.address_hash,
    },
    {
      externalUserId: report.external_user_id,
      email: report.email,
      deviceId: report.device_id,
      isReferrersVisitor:
        visitor !== null &&
        (visitor.externalUserIds.includes(enrollment.external_user_id) ||
          visitor.emails.some((email) => isOneMailbox(emails, email))),
      addressHash: report.address_hash,
    },
  );
}

async function grantForSignup(
  tx: Queryable,
  program: Program,
  enrollment: Enrollment,
  signup: MatchedSignup,
  now: Date,
): Promise<RecordEvent[]> {
  const events: RecordEvent[] = [];
  const referrer = { tier: enrollment.tier, rewardMode: enrollment.reward_mode };
  for (const { cause, amount, revokedReason } of signupGrants(program.terms, referrer, signup.block_reason)) {
    const externalUserId = cause === 'referee' ? signup.external_user_id : enrollment.external_user_id;
    const { creditKind } = program.terms;
    const grant = await insertGrant(
      tx,
      enrollment.workspace_id,
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
    await appendEntries(tx, enrollment.workspace_id, [{ ...entry, account: 'credit_earned', cause }], now);
    events.push({ type: 'credit.earned', data: grantRecord(grant) });
  }
  return events;
}

function leadCreated(signup: MatchedSignup): RecordEvent {
  return {
    type: 'lead.created',
    data: {
      external_user_id: signup.external_user_id,
      email: signup.email,
      visitor_id: signup.visitor_id,
      partner_id: signup.enrollment_id,
      program_id: signup.program_id,
      created_at: signup.reported_at.toISOString(),
    },
  };
}
