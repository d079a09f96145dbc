import type { FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import { addressHash } from '../../core/addresses/address-hash.ts';
import { checkAll } from '../../core/faults.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import { requestedVisitor, type VisitorRequest, visitorIdsOf } from '../../core/tracking/track-reports.ts';
import { inTransaction, type Queryable } from '../../sql/database/pool.ts';
import { type DeploymentSecrets, readSecrets } from '../../sql/database/secrets.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { joinVisitors } from '../../sql/orders/joined-visitors.ts';
import type { Enrollment } from '../../sql/referrals/enrollments.ts';
import { signupOfUser } from '../../sql/referrals/signups.ts';
import { recordSignup } from '../../sql/transactions/record-signup.ts';
import { reportPurchase, reportRefund } from '../../sql/transactions/report-order.ts';
import { actorOf } from '../actor.ts';
import type { Api, ApiDeps, Auth } from '../dependencies.ts';
import { withIdempotency, withPreparedIdempotency } from '../plugins/idempotency.ts';
import { enroll, enrolled, requireEmail } from './enroll.ts';
import { hasProvenIdentity, requireIdentity } from './identity.ts';
import { heldUntil, payoutEmail, savedMethod, savePayoutMethod, switchRewardMode } from './payout-method.ts';
import { checkPurchase, purchaseAnswer, readPurchase, refundAnswer } from './report-purchase.ts';
import { isOpenToPages, namesReferrer, resolveReferrer, signupAnswer } from './report-signup.ts';
import {
  EnrollBody,
  Enrolled,
  PayoutMethodAnswer,
  PayoutMethodBody,
  PurchaseAnswer,
  PurchaseBody,
  RefundAnswer,
  RefundBody,
  RewardModeAnswer,
  RewardModeBody,
  SignupAnswer,
  SignupBody,
  Stats,
  StatsQuery,
} from './schemas.ts';
import { partnerOf, referralStats } from './stats.ts';

const ANY_KEY = { scope: 'any', plan: 'paid' } as const;
const SECRET_KEY = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Referrals'];

/** Registers the referral routes: referrers, their referees and rewards. Paid plan. */
export async function referralRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const outbox = createOutbox(config.mail !== null);
  /** Each change is a row of the referrer's history, which is never deleted. */
  async function countChange(
    tx: Queryable,
    auth: Auth,
    { updated_at }: Enrollment,
    now: Date,
  ): Promise<void> {
    if (updated_at.getTime() === now.getTime()) await app.countPublishable(tx, auth);
  }
  const hashOfCaller = callerHasher(deps);
  const purchases = new Counter({
    name: 'hoplog_referral_purchase_reports_total',
    help: 'Responses to report-purchase, replays included, by outcome: rewarded, unmatched, or the reason.',
    labelNames: ['outcome'],
    registers: [deps.registry],
  });

  app.post(
    '/referrals/enroll',
    {
      config: {
        ...ANY_KEY,
        idempotent: true,
        errors: ['not_found', 'forbidden', 'too_many_requests'],
        checkRest: (body: Partial<EnrollBody>) => requireEmail('email', body.email ?? null),
      },
      schema: {
        tags,
        operationId: 'referrals.enroll',
        summary: 'Enroll a user as a referrer',
        description:
          'Once per user and workspace: a second call responds with the first program and link. It adds a missing email or name but does not replace one. With a secret key, another `tier` applies to future signups.',
        body: EnrollBody,
        response: { 200: Enrolled },
      },
    },
    async (request, reply) => {
      const { body, auth } = request;
      await requireIdentity(deps, auth, body.external_user_id, body.user_hash);
      const hash = await hashOfCaller(request);
      return withIdempotency(pool, request, reply, async (tx) => {
        const { enrollment, address } = await enroll(
          tx,
          auth.workspace.id,
          {
            externalUserId: body.external_user_id,
            email: body.email,
            name: body.name ?? null,
            deviceId: body.device_id ?? null,
            addressHash: hash,
            tier: body.tier,
            mayChangeTier: auth.key.kind === 'secret',
            programId: body.program_id ?? null,
            countMade: (tx) => app.countPublishable(tx, auth),
          },
          { now: new Date(), by: actorOf(request) },
        );
        return { status: 200, body: partnerOf(enrollment, address, config.shortUrl) };
      });
    },
  );

  app.post(
    '/referrals/report-signup',
    {
      config: {
        ...ANY_KEY,
        idempotent: true,
        answers: { 200: SignupAnswer },
        errors: ['forbidden', 'too_many_requests'],
        checkRest: (body: VisitorRequest & Partial<SignupBody>) =>
          checkAll([() => requestedVisitor(body), () => requireEmail('email', body.email ?? null)]),
      },
      schema: {
        tags,
        operationId: 'referrals.reportSignup',
        summary: 'Report a signup',
        description:
          'Once per new user. The referrer is resolved by `ref_code`, then `_vid`, then `referrer_external_user_id`. A report by `_vid` waits up to two seconds for the click to become visible; after that, the signup is resolved in the background and a repeated call returns the result. A report with a secret key is final, also when it names no referrer: later reports with a publishable key change nothing. One that has `ref_code`, `_vid` or `referrer_external_user_id` corrects the referrer that a page named: rewards of the wrong referrer that are not delivered or paid are revoked, and the right ones are written. With `null` in such a field it says that no one referred the user. Purchases of the last 72 hours that waited for the signup are evaluated with it.',
        body: SignupBody,
      },
    },
    async (request, reply) => {
      const { auth } = request;
      const { workspace } = auth;
      const visitor = requestedVisitor(request.body);
      const body = { ...request.body, _vid: visitor };
      const userId = body.new_user_external_user_id;
      const byServer = auth.key.kind === 'secret';
      const visitorIds = visitorIdsOf(visitor);
      requireEmail('email', body.email ?? null);
      await requireIdentity(deps, auth, userId, body.user_hash);
      const prepare = async () => {
        const known = await signupOfUser(pool, workspace.id, userId);
        const report = {
          workspace_id: workspace.id,
          external_user_id: userId,
          email: body.email ? normalizeEmail(body.email) : null,
          device_id: body.device_id ?? null,
          visitor_id: visitorIds[0] ?? null,
          address_hash: await hashOfCaller(request),
          by_server: byServer,
        };
        const stays = byServer
          ? known?.referrer_by_server === true && known.enrollment_id !== null
          : !(await isOpenToPages(deps, workspace.id, userId, known, new Date()));
        if (stays) return { known, report, referrer: null };
        if (byServer && !namesReferrer(body)) return { known, report, referrer: 'unsaid' as const };
        // A visitor that a page reported does not count when a server names the referrer.
        const earlier = known?.by_server === byServer && body._vid === undefined ? known.visitor_id : null;
        const visitors = visitorIds.length > 0 || earlier === null ? visitorIds : [earlier];
        const referrer = await resolveReferrer(deps, workspace.id, body, visitors);
        // A page that names no referrer stores no signup: a later click may still name one.
        const isVoid = referrer === 'nobody' && !byServer;
        return {
          known,
          report: { ...report, visitor_id: visitors[0] ?? null },
          referrer: isVoid ? null : referrer,
        };
      };
      return withPreparedIdempotency(pool, request, reply, prepare, async (tx, prepared) => {
        const { known, report, referrer } = prepared;
        if (referrer === null) return { status: 200, body: signupAnswer(known) };
        // Stores the ids that the visitor has together, for a signup that waits for its click.
        await joinVisitors(tx, [{ workspaceId: workspace.id, visitorIds, ts: Date.now() * 1_000 }]);
        const signup = await recordSignup(tx, workspace, report, referrer, new Date());
        if (known === null) await app.countPublishable(tx, auth);
        return { status: 200, body: signupAnswer(signup) };
      });
    },
  );

  app.post(
    '/referrals/report-purchase',
    {
      config: {
        ...SECRET_KEY,
        idempotent: true,
        errors: ['conflict'],
        checkRest: (body: Partial<PurchaseBody>, faulty) => checkPurchase(body, faulty),
      },
      schema: {
        tags,
        operationId: 'referrals.reportPurchase',
        summary: 'Report a paid purchase',
        description:
          "Once per `order_id`: a replay returns the outcome, and a report of the same order for another user is a 409. A purchase of a user without a referrer is unmatched; if its signup is reported within 72 hours of the purchase, it is evaluated then. A purchase dated more than 72 hours before the signup earns nothing (`before_signup`). The order also counts in reports, like an order reported by a server. A sale in a currency without a rate to the program's currency earns no percentage (`no_currency_rate`).",
        body: PurchaseBody,
        response: { 200: PurchaseAnswer },
      },
    },
    async (request, reply) => {
      const now = new Date();
      const report = readPurchase(request.body, now);
      return withIdempotency(pool, request, reply, async (tx) => {
        const body = purchaseAnswer(await reportPurchase(tx, request.auth.workspace, report, now));
        purchases.inc({ outcome: body.rewarded ? 'rewarded' : (body.reason ?? 'unmatched') });
        return { status: 200, body };
      });
    },
  );

  app.post(
    '/referrals/report-refund',
    {
      config: { ...SECRET_KEY, idempotent: true, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'referrals.reportRefund',
        summary: 'Report a refund of an order',
        description:
          "Once per `refund_id`; the same id for another order is a 409. Pending and eligible commissions of the order are reversed in proportion. A commission that is paid or in a payout file gets a negative commission, which the next payout deducts. An amount above the rest of the order is a 400. A refund of an order that no server has reported yet is stored for 30 days, responded to with `matched: false`, and applied when the order is reported; then the same call returns the result. A full refund also revokes credits of the order that are not delivered, unless the program's `revoke_credits_on_refund` is false. The order's revenue does not change.",
        body: RefundBody,
        response: { 200: RefundAnswer },
      },
    },
    async (request, reply) => {
      const { refund_id: refundId, order_id: orderId, amount = null } = request.body;
      return withIdempotency(pool, request, reply, async (tx) => ({
        status: 200,
        body: refundAnswer(
          await reportRefund(tx, request.auth.workspace, { refundId, orderId, amount }, new Date()),
        ),
      }));
    },
  );

  app.get(
    '/referrals/stats',
    {
      // It enrolls: analysts may only read.
      config: {
        ...ANY_KEY,
        role: 'operator',
        writes: true,
        readsClicks: true,
        errors: ['not_found', 'forbidden'],
      },
      // A HEAD must not write, and this would enroll.
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'referrals.getStats',
        summary: 'Get referral stats',
        description:
          'Stats, rewards and payouts of one referrer. Enrolls a user who is not a referrer yet, like the enroll endpoint.',
        querystring: StatsQuery,
        response: { 200: Stats },
      },
    },
    async (request) => {
      const { query, auth } = request;
      await requireIdentity(deps, auth, query.external_user_id, query.user_hash);
      const now = new Date();
      const referrer = await enrolled(
        pool,
        auth.workspace.id,
        {
          externalUserId: query.external_user_id,
          email: query.email || null,
          name: null,
          deviceId: null,
          addressHash: await hashOfCaller(request),
          tier: query.tier ?? 'free',
          mayChangeTier: false,
          countMade: (tx) => app.countPublishable(tx, auth),
          programId: query.program_id ?? null,
        },
        { now, by: actorOf(request) },
      );
      return referralStats({ ...deps, clickhouse: request.clickhouse }, referrer, query.days, now);
    },
  );

  app.post(
    '/referrals/reward-mode',
    {
      config: { ...ANY_KEY, errors: ['not_found', 'forbidden', 'too_many_requests'] },
      schema: {
        tags,
        operationId: 'referrals.setRewardMode',
        summary: "Set a referrer's reward mode",
        description: 'Applies to future conversions only; earned rewards do not change.',
        body: RewardModeBody,
        response: { 200: RewardModeAnswer },
      },
    },
    async (request) => {
      const { auth, body } = request;
      await requireIdentity(deps, auth, body.external_user_id, body.user_hash);
      const given = { externalUserId: body.external_user_id, mode: body.mode };
      const origin = { now: new Date(), by: actorOf(request) };
      const enrollment = await inTransaction(pool, async (tx) => {
        const changed = await switchRewardMode(tx, auth.workspace.id, given, origin);
        await countChange(tx, auth, changed, origin.now);
        return changed;
      });
      const { id, program_id, reward_mode } = enrollment;
      return { partner_id: id, program_id, reward_mode };
    },
  );

  app.post(
    '/referrals/payout-method',
    {
      config: {
        ...ANY_KEY,
        errors: ['method_not_offered', 'not_found', 'forbidden', 'too_many_requests'],
        checkRest: (body: Partial<PayoutMethodBody>, faulty) => void payoutEmail(body, faulty),
      },
      schema: {
        tags,
        operationId: 'referrals.setPayoutMethod',
        summary: "Set an affiliate's payout method",
        description:
          'A change with a publishable key can come from anyone: payout files leave the balance out for `payout_hold_days`, unless a call with a secret key sets the same address.',
        body: PayoutMethodBody,
        response: { 200: PayoutMethodAnswer },
      },
    },
    async (request) => {
      const { auth, body } = request;
      await requireIdentity(deps, auth, body.external_user_id, body.user_hash);
      const isTrusted = await hasProvenIdentity(deps, auth, body.external_user_id, body.user_hash);
      const given = { body, isTrusted };
      const origin = { now: new Date(), by: actorOf(request) };
      const enrollment = await inTransaction(pool, async (tx) => {
        const changed = await savePayoutMethod(tx, auth.workspace.id, given, origin, outbox);
        await countChange(tx, auth, changed, origin.now);
        return changed;
      });
      const payoutMethod = savedMethod(enrollment);
      if (!payoutMethod) throw new Error('the payout method was not saved');
      const { paypal_email } = payoutMethod;
      return {
        partner_id: enrollment.id,
        program_id: enrollment.program_id,
        payout_method: payoutMethod,
        ...(paypal_email !== undefined && { paypal_email }),
        payout_held_until: heldUntil(enrollment, origin.now),
      };
    },
  );
}

/**
 * Returns the keyed hash of the client's address for calls with a publishable key, or null for a server's. The key
 * is read at the first call: the API starts with PostgreSQL down.
 */
function callerHasher({ pool }: Pick<ApiDeps, 'pool'>) {
  let secrets: DeploymentSecrets | null = null;
  return async ({ auth, ip }: FastifyRequest): Promise<Buffer | null> => {
    if (auth.key.kind === 'secret') return null;
    secrets ??= await readSecrets(pool);
    return addressHash(secrets.addressHash, auth.workspace.id, ip);
  };
}
