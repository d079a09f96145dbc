import { importReferrals } from '../../api/referrals/import/import-referrals.ts';
import { setStatus } from '../../cli/commands/enrollment.ts';
import { erasePerson } from '../../cli/erase-person.ts';
import { REFERRAL_FORMATS } from '../../core/referral-imports/formats/known.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { upsertOrders } from '../../sql/orders/orders.ts';
import { programById } from '../../sql/referrals/programs.ts';
import { matureHeld } from '../../sql/transactions/mature-held.ts';
import { reevaluateWithoutRate } from '../../sql/transactions/reevaluate-purchase.ts';
import { setRate } from '../../sql/workspaces/currency-rates.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';
import type { TestStores } from '../support/stores.ts';
import { type Action, GROUPS, PERSONS, type Terms } from './history.ts';
import { IMPORTED_DAY, IMPORTED_DUE_DAY } from './model/imports.ts';
import type { Balance } from './model/model.ts';
import { isYen, PER_100_FOREIGN } from './model/money.ts';
import type { Answer } from './model/state.ts';

/** Calls the API. Paths are below `/api/v1`. `fromPage`: with the publishable key. */
export type Call = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  options?: { fromPage?: boolean; idempotencyKey?: string },
) => Promise<{ status: number; body: Record<string, unknown>; text: string; exportId: string | null }>;

/** The position of an action in the history, and how many grants exist before it. */
export type Step = { number: number; grants: number };

const DAY_MS = 86_400_000;
/** An id that does not exist. */
const NO_PARTNER = '00000000-0000-4000-8000-000000000000';
const userId = (number: number) => `u${number}`;
const emailOf = (number: number) => `person${number % PERSONS}+${number}@mail.example`;

/**
 * Plays histories against the product as its users do: over the API, and through the operator's and workers' code where
 * the API has no call (suspending, hold periods).
 */
export function createDriver(given: {
  call: Call;
  stores: Pick<TestStores, 'pool' | 'clickhouse' | 'replicas' | 'log'>;
  workspaceId: string;
  programIds: string[];
  /** The currency of the purchases in another currency. */
  foreign: string;
}) {
  const { call, stores, workspaceId, programIds, foreign } = given;
  const { pool } = stores;
  // A minute ago, so that "now" is never in the future of the clock that is compared with it.
  const base = Date.now() - 60_000;
  /** Payout files by the step that created them: a client stores the id that it received. */
  const exportIds = new Map<number, string>();

  const exportOf = (nth: number, step: Step): string | undefined => {
    const before = [...exportIds].filter(([number]) => number < step.number).map(([, id]) => id);
    return before.toReversed()[nth % before.length];
  };

  async function nthGrant(nth: number, step: Step): Promise<{ id: number } | undefined> {
    const { rows } = await pool.query<{ id: number }>(
      'SELECT id FROM grants WHERE workspace_id = $1 ORDER BY id',
      [workspaceId],
    );
    return rows[nth % step.grants];
  }

  async function partnerOf(user: number): Promise<string | undefined> {
    const { rows } = await pool.query<{ id: string }>(
      'SELECT id FROM enrollments WHERE workspace_id = $1 AND external_user_id = $2 AND deleted_at IS NULL',
      [workspaceId, userId(user)],
    );
    return rows[0]?.id;
  }

  async function isOfYen(user: number): Promise<boolean> {
    const { rows } = await pool.query<{ currency: string }>(
      `SELECT p.currency FROM enrollments e JOIN programs p ON p.id = e.program_id
       WHERE e.workspace_id = $1 AND e.external_user_id = $2 AND e.deleted_at IS NULL`,
      [workspaceId, userId(user)],
    );
    return rows[0]?.currency === 'jpy';
  }

  const groupName = (group: number) => `Group ${group}`;

  async function createGroup(group: number, terms = {}): Promise<number> {
    const body = { program_id: programIds[GROUPS[group] ?? 0], name: groupName(group), ...terms };
    return (await call('POST', '/partner-groups', body)).status;
  }

  async function groupOf(group: number): Promise<string | undefined> {
    const { rows } = await pool.query<{ id: string }>(
      'SELECT id FROM partner_groups WHERE workspace_id = $1 AND name = $2',
      [workspaceId, groupName(group)],
    );
    return rows[0]?.id;
  }

  async function importOf(
    { user, customer, program: number, amount, isDue }: Extract<Action, { type: 'import' }>,
    step: Step,
  ): Promise<Answer> {
    const workspace = await workspaceById(pool, workspaceId);
    const program = await programById(pool, workspaceId, programIds[number] ?? '');
    const format = REFERRAL_FORMATS.csv;
    if (!workspace || !program || !format) throw new Error('no workspace, program, or format');
    const dayOf = (day: number) => new Date(base + day * DAY_MS).toISOString();
    const due = isDue ? 'eligible,' : `pending,${dayOf(IMPORTED_DUE_DAY)}`;
    const major = isYen(number) ? amount : amount / 100;
    const ref = userId(user);
    const files = [
      `partner_id,external_user_id,email\n${ref},${ref},${emailOf(user)}`,
      `customer_id,customer_email,partner_email,created_at\n${userId(customer)},${emailOf(customer)},${emailOf(user)},${dayOf(IMPORTED_DAY)}`,
      `commission_id,amount,partner_email,status,due_at\nstep-${step.number},${major},${emailOf(user)},${due}`,
    ];
    const { errors } = await importReferrals({
      pool,
      workspace,
      program,
      from: 'csv',
      format,
      dryRun: false,
      now: new Date(),
      by: 'operator',
      files: files.map((text, index) => ({
        name: String(index),
        form: { delimiter: ',', firstLine: 1 },
        async *text() {
          yield text;
        },
      })),
    });
    return { errors: errors.length };
  }

  async function once(action: Action, step: Step): Promise<Answer> {
    switch (action.type) {
      case 'enroll': {
        const { body } = await call('POST', '/referrals/enroll', {
          external_user_id: userId(action.user),
          email: emailOf(action.user),
          tier: action.tier,
          program_id: programIds[action.program],
        });
        return { program: programIds.indexOf(String(body.program_id)) };
      }
      case 'signup': {
        const { referrer } = action;
        const { status, body } = await call(
          'POST',
          '/referrals/report-signup',
          {
            new_user_external_user_id: userId(action.user),
            email: emailOf(action.user),
            ...(referrer !== undefined && {
              referrer_external_user_id: referrer === null ? null : userId(referrer),
            }),
          },
          { fromPage: !action.byServer },
        );
        if (status !== 200) return { status };
        // Dates the signup long before its purchases, which the API can't do. A signup that may count for the day keeps
        // its date.
        await pool.query(
          `UPDATE signups SET reported_at = reported_at - interval '100 days'
           WHERE workspace_id = $1 AND external_user_id = $2 AND reported_at > now() - interval '50 days'
             AND NOT EXISTS (
               SELECT FROM programs p WHERE p.id = program_id AND p.max_signups_per_day IS NOT NULL)`,
          [workspaceId, userId(action.user)],
        );
        const { program_id: _, partner_id: __, ...response } = body;
        return response;
      }
      case 'review': {
        const { rows } = await pool.query<{ id: string }>(
          `SELECT id FROM signups WHERE workspace_id = $1 ORDER BY external_user_id`,
          [workspaceId],
        );
        const signup = rows[action.nth % rows.length];
        if (!signup) return { status: 404 };
        const { status, body } = await call('POST', `/signups/${signup.id}/${action.decision}`);
        return status === 200 ? { status: body.status, block_reason: body.block_reason } : { status };
      }
      case 'reevaluate': {
        const { rows } = await pool.query<{ id: number }>(
          `SELECT order_internal_id AS id FROM purchases JOIN orders ON internal_id = order_internal_id
           WHERE orders.workspace_id = $1 AND order_id = $2`,
          [workspaceId, `o${action.order}`],
        );
        if (!rows[0]) return { status: 404 };
        const { status, body } = await call('POST', `/purchases/${rows[0].id}/reevaluate`);
        const { internal_order_id: _, ...response } = body;
        return status === 200 ? response : { status };
      }
      case 'rates':
        for (const [base, hundredfold] of Object.entries(PER_100_FOREIGN)) {
          await setRate(pool, { currency: foreign, base, rate: Number(hundredfold) / 100 });
        }
        for (const base of Object.keys(PER_100_FOREIGN)) {
          await reevaluateWithoutRate(pool, { currency: foreign, base }, new Date());
        }
        return {};
      case 'move': {
        const partner = (await partnerOf(action.user)) ?? NO_PARTNER;
        const change = { program_id: programIds[action.program] };
        return { status: (await call('PATCH', `/enrollments/${partner}`, change)).status };
      }
      case 'erase': {
        const partner = (await partnerOf(action.user)) ?? NO_PARTNER;
        return { status: (await call('DELETE', `/enrollments/${partner}`)).status };
      }
      case 'forget':
        await erasePerson(stores, { workspaceId, email: emailOf(action.user), now: new Date() });
        return {};
      case 'purchase': {
        const { status, body } = await call('POST', '/referrals/report-purchase', {
          external_user_id: userId(action.user),
          order_id: `o${action.order}`,
          amount: action.amount / 100,
          ...(action.commissionable !== null && { commissionable_amount: action.commissionable / 100 }),
          currency: action.isForeign ? foreign : 'usd',
          is_renewal: action.isRenewal,
          purchased_at: new Date(base + action.day * DAY_MS).toISOString(),
          ...(action.withEmail && { email: emailOf(action.user) }),
        });
        if (status !== 200) return { status };
        const { internal_order_id: _, ...response } = body;
        return response;
      }
      case 'pixel': {
        const ts = (base + step.number) * 1_000;
        await upsertOrders(pool, [
          {
            workspaceId,
            orderId: `o${action.order}`,
            source: 'pixel',
            ts,
            streamOrdinal: 0,
            visitorId: null,
            email: null,
            externalUserId: null,
            amountMinor: action.amount,
            currency: 'usd',
          },
        ]);
        return {};
      }
      case 'refund': {
        const { status, body } = await call('POST', '/referrals/report-refund', {
          refund_id: `f${action.refund}`,
          order_id: `o${action.order}`,
          ...(action.amount !== null && { amount: action.amount / 100 }),
        });
        if (status !== 200) return { status };
        return { matched: body.matched, ledger_rows: body.ledger_rows };
      }
      case 'mode': {
        const { status, body } = await call('POST', '/referrals/reward-mode', {
          external_user_id: userId(action.user),
          mode: action.mode,
        });
        return status === 200 ? { reward_mode: body.reward_mode } : { status };
      }
      case 'status':
        await setStatus(pool, {
          workspace: workspaceId,
          externalUserId: userId(action.user),
          status: action.status,
        }).catch((error: Error) => {
          if (!error.message.includes('is not enrolled')) throw error;
        });
        return {};
      case 'deliver': {
        const grant = await nthGrant(action.nth, step);
        if (!grant) return { status: 404 };
        const { status, body } = await call('POST', `/credits/${grant.id}/mark-delivered`);
        return status === 200 ? { ok: body.ok } : { status };
      }
      case 'tick':
        // The same as the job does, but for this workspace alone: other histories run at the same time.
        await inTransaction(pool, (tx) =>
          matureHeld(tx, { now: new Date(base + action.day * DAY_MS), limit: 1_000, workspaceId }),
        );
        return {};
      case 'export': {
        if (exportIds.has(step.number)) return {};
        const until =
          action.until === null ? '' : `&until=${new Date(base + action.until * DAY_MS).toISOString()}`;
        const query = `?include_open=${action.includeOpen}${until}`;
        const { exportId, text } = await call('GET', `/payouts/export${query}`);
        if (exportId === null) throw new Error(text);
        exportIds.set(step.number, exportId);
        return linesOf(text);
      }
      case 'pay': {
        const id = exportOf(action.nth, step);
        if (id === undefined) return { status: 404 };
        const partner_ids = action.only === null ? null : [(await partnerOf(action.only)) ?? NO_PARTNER];
        const { status, body } = await call('POST', '/payouts', { export_id: id, partner_ids });
        return status === 200 ? { paid: body.paid } : { status };
      }
      case 'fail': {
        const id = exportOf(action.nth, step) ?? NO_PARTNER;
        const partner = (await partnerOf(action.user)) ?? NO_PARTNER;
        const { status, body } = await call('POST', `/payouts/${id}/lines/${partner}/fail`, {
          reason: 'came back',
        });
        return { status: status === 200 ? body.status : status };
      }
      case 'retry': {
        const id = exportOf(action.nth, step) ?? NO_PARTNER;
        const partner = (await partnerOf(action.user)) ?? NO_PARTNER;
        const { status, body } = await call('POST', `/payouts/${id}/lines/${partner}/retry`);
        return { status: status === 200 ? body.status : status };
      }
      case 'cancel': {
        const { status, body } = await call('DELETE', `/payouts/${exportOf(action.nth, step) ?? NO_PARTNER}`);
        return status === 200 ? { ok: body.ok } : { status };
      }
      case 'address': {
        if (!action.byServer) {
          // Each step sets an address of its own, as a person would; a repeated call sets the same one.
          const email = `changed-${step.number}@pay.example`;
          const body = { external_user_id: userId(action.user), method: 'paypal', email };
          return {
            status: (await call('POST', '/referrals/payout-method', body, { fromPage: true })).status,
          };
        }
        const payout_method = { method: 'paypal', email: 'payout@pay.example' };
        const partner = (await partnerOf(action.user)) ?? NO_PARTNER;
        return { status: (await call('PATCH', `/enrollments/${partner}`, { payout_method })).status };
      }
      case 'manual': {
        const isYen = await isOfYen(action.user);
        const body = {
          external_user_id: userId(action.user),
          amount: isYen ? action.amount : action.amount / 100,
          note: 'by hand',
        };
        const { status } = await call('POST', '/commissions', body, {
          idempotencyKey: `manual-${step.number}`,
        });
        return { status };
      }
      case 'reject': {
        const { rows } = await pool.query<{ id: string }>(
          `SELECT c.id FROM commissions c JOIN orders o ON o.internal_id = c.order_internal_id
           WHERE c.workspace_id = $1 AND o.order_id = $2 AND c.level = $3 AND c.kind = 'sale' ORDER BY c.created_at, c.id`,
          [workspaceId, `o${action.order}`, action.level],
        );
        const { status, body } = await call('POST', `/commissions/${rows[0]?.id ?? NO_PARTNER}/reject`);
        return { status: status === 200 ? body.status : status };
      }
      case 'revoke': {
        const grant = await nthGrant(action.nth, step);
        if (!grant) return { status: 404 };
        const { status, body } = await call('POST', `/credits/${grant.id}/revoke`, { reason: 'by hand' });
        return status === 200 ? { ok: body.ok } : { status };
      }
      case 'own': {
        const partner = (await partnerOf(action.user)) ?? NO_PARTNER;
        const { rate } = action;
        const change =
          rate === null ? { commission_rate: null } : { commission_rate: rate, commission_type: 'percent' };
        return { status: (await call('PATCH', `/enrollments/${partner}`, change)).status };
      }
      case 'group': {
        const id = await groupOf(action.group);
        if (id !== undefined)
          return { status: (await call('PATCH', `/partner-groups/${id}`, action.terms)).status };
        // The first call creates it; one beside it finds the name taken.
        const status = await createGroup(action.group, action.terms);
        return { status: status === 201 || status === 409 ? 200 : status };
      }
      case 'join': {
        const partner = (await partnerOf(action.user)) ?? NO_PARTNER;
        const group_id = action.group === null ? null : ((await groupOf(action.group)) ?? NO_PARTNER);
        return { status: (await call('PATCH', `/enrollments/${partner}`, { group_id })).status };
      }
      case 'dissolve': {
        const id = (await groupOf(action.group)) ?? NO_PARTNER;
        return { status: (await call('DELETE', `/partner-groups/${id}`)).status };
      }
      case 'import':
        return importOf(action, step);
      case 'terms': {
        const { status, text } = await call('PATCH', `/programs/${programIds[action.program]}`, action.terms);
        if (status !== 200) throw new Error(text);
        return {};
      }
    }
  }

  return {
    /**
     * Runs an action as often as it says, all at once.
     *
     * @returns the distinct responses
     */
    async act(action: Action, step: Step): Promise<Answer[]> {
      const times = 'times' in action ? action.times : 1;
      const responses = await Promise.all(Array.from({ length: times }, () => once(action, step)));
      const distinct = new Map(responses.map((response) => [JSON.stringify(response), response]));
      return [...distinct.values()];
    },
    async balance(number: number): Promise<Balance> {
      const { rows } = await pool.query<{ account: string; amount: string }>(
        `SELECT account, sum(amount) AS amount FROM ledger_entries
         WHERE workspace_id = $1 AND external_user_id = $2 GROUP BY account`,
        [workspaceId, userId(number)],
      );
      const of = (account: string) => Number(rows.find((row) => row.account === account)?.amount ?? 0);
      return {
        pending: of('cash_pending'),
        eligible: of('cash_eligible'),
        paid: of('cash_paid'),
        creditEarned: of('credit_earned'),
        creditDelivered: of('credit_delivered'),
      };
    },
  };
}

export type Driver = ReturnType<typeof createDriver>;

/** Creates the programs of a history. */
export async function createPrograms(call: Call, terms: readonly Terms[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [number, fields] of terms.entries()) {
    const { status, body, text } = await call('POST', '/programs', {
      name: `Program ${number}`,
      destination_url: 'https://shop.example/join',
      allow_affiliate_upgrade: true,
      currency: isYen(number) ? 'jpy' : 'usd',
      ...fields,
    });
    if (status !== 201) throw new Error(text);
    ids.push(String(body.id));
  }
  return ids;
}

/** Amounts of a payout file in minor units, by user. */
function linesOf(csv: string): Answer {
  const [header = '', ...lines] = csv.trim().split('\r\n');
  const columns = header.split(',');
  const at = (line: string, column: string) => line.split(',')[columns.indexOf(column)] ?? '';
  return Object.fromEntries(
    lines.map((line) => [
      at(line, 'external_user_id'),
      Math.round(Number(at(line, 'amount')) * (at(line, 'currency') === 'usd' ? 100 : 1)),
    ]),
  );
}
