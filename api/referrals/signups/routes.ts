import { toMajor } from '../../../core/money/money.ts';
import { textCell } from '../../../core/text/csv-text.ts';
import { inTransaction } from '../../../sql/database/pool.ts';
import { type ListedSignup, listSignups } from '../../../sql/referrals/signup-list.ts';
import { reviewSignup } from '../../../sql/transactions/review-signup.ts';
import { requireBomOfCsv } from '../../byte-order-mark.ts';
import { CSV_CHUNK, pageOrCsv, sendCsv } from '../../csv-rows.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { IdParams } from '../../schemas.ts';
import { SignupList, SignupQuery, SignupRecord } from './schemas.ts';

/** Registers the routes of reported signups. Secret key, paid plan. */
export async function signupRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/signups',
    {
      config: { scope: 'secret', plan: 'paid', answers: { 200: pageOrCsv(SignupList) } },
      // A HEAD would read a whole file for nothing.
      exposeHeadRoute: false,
      schema: {
        tags: ['Referrals'],
        operationId: 'signups.list',
        summary: 'List reported signups, newest first',
        description:
          'Includes blocked signups and why they earned nothing. With `status=held`, the signups to review.',
        querystring: SignupQuery,
        response: { 200: SignupList },
      },
    },
    async (request, reply) => {
      const { auth, query } = request;
      const pageBefore = async (before: string | null, limit: number) => {
        const rows = await listSignups(pool, auth.workspace.id, {
          programId: query.program_id ?? null,
          enrollmentId: query.partner_id ?? null,
          blocked: query.blocked ?? null,
          blockReason: query.block_reason ?? null,
          status: query.status ?? null,
          search: query.search ?? null,
          before,
          limit: limit + 1,
        });
        const page = cutPageAt(rows, limit, ({ id }) => id);
        return { rows: page.rows.map(signupRecord), next: page.nextCursor };
      };
      if (query.format === 'csv') {
        await request.audit(pool);
        const file = { name: 'signups', bom: query.bom, columns: COLUMNS };
        return sendCsv(reply, file, (before: string | null) => pageBefore(before, CSV_CHUNK));
      }
      requireBomOfCsv(query);
      const page = await pageBefore(query.cursor ?? null, query.limit);
      return { signups: page.rows, next_cursor: page.next };
    },
  );

  for (const decision of ['approve', 'reject'] as const) {
    app.post(
      `/signups/:id/${decision}`,
      {
        config: { scope: 'secret', plan: 'paid', errors: ['conflict'] },
        schema: {
          tags: ['Referrals'],
          operationId: `signups.${decision}`,
          summary: decision === 'approve' ? 'Approve a held signup' : 'Reject a held signup',
          description: DESCRIPTIONS[decision],
          params: IdParams,
          response: { 200: SignupRecord },
        },
      },
      async (request) => {
        const { auth, params } = request;
        const given = { id: params.id, decision, now: new Date() };
        await inTransaction(pool, async (tx) => {
          await reviewSignup(tx, auth.workspace, given);
          await request.audit(tx);
        });
        const [reviewed] = await listSignups(pool, auth.workspace.id, { ...ALL, id: params.id, limit: 1 });
        if (!reviewed) throw new Error(`signup ${params.id} is gone`);
        return signupRecord(reviewed);
      },
    );
  }
}

type Record = ReturnType<typeof signupRecord>;

/** The columns of the file of signups. */
const COLUMNS: readonly [string, (signup: Record) => string][] = [
  ['id', ({ id }) => id],
  ['reported_at', ({ reported_at }) => reported_at],
  ['external_user_id', ({ external_user_id }) => textCell(external_user_id)],
  ['email', ({ email }) => textCell(email ?? '')],
  ['status', ({ status }) => status],
  ['block_reason', ({ block_reason }) => block_reason ?? ''],
  ['program_id', ({ program_id }) => program_id ?? ''],
  ['partner_id', ({ partner_id }) => partner_id ?? ''],
  ['referrer_name', ({ referrer_name }) => textCell(referrer_name ?? '')],
  ['referrer_email', ({ referrer_email }) => textCell(referrer_email ?? '')],
  ['referrer_external_user_id', (signup) => textCell(signup.referrer_external_user_id ?? '')],
  ['lifetime_value', ({ lifetime_value }) => amountsText(lifetime_value)],
];

/** `70 usd, 20.5 eur` */
const amountsText = (amounts: { [currency: string]: number }) =>
  Object.entries(amounts)
    .map(([currency, amount]) => `${amount} ${currency}`)
    .join(', ');

const ALL = {
  programId: null,
  enrollmentId: null,
  blocked: null,
  blockReason: null,
  status: null,
  search: null,
  before: null,
};

const DESCRIPTIONS = {
  approve:
    "The signup, and its buyer's purchases that waited, earn what the program's terms give now. A signup that is not held is a 409.",
  reject:
    'The signup is blocked with `rejected`: it and the purchases of its buyer earn nothing. A signup that is not held is a 409.',
};

/** Returns a signup as the API shows it. */
function signupRecord({ state, rewards_held, enrollment_id, lifetime_minor, ...signup }: ListedSignup) {
  return {
    ...signup,
    lifetime_value: Object.fromEntries(
      Object.entries(lifetime_minor).map(([currency, minor]) => [currency, toMajor(minor, currency)]),
    ),
    status: rewards_held ? ('held' as const) : state,
    partner_id: enrollment_id,
    blocked: signup.block_reason !== null,
  };
}
