import { parse } from 'csv-parse/sync';
import type { PayoutLine, PayoutWithLines } from '../../api/referrals/payouts/schemas.ts';
import type { ProgramRecord } from '../../api/referrals/programs/schemas.ts';
import type { Stats } from '../../api/referrals/schemas.ts';
import type { GrantRecord } from '../../sql/referrals/grants.ts';
import type { Answer, TestApi, TestWorkspace } from '../support/api.ts';

export type Enrolled = { partner_id: string; program_id: string; referral_link: string; status: string };
export type SignupAnswer = {
  matched: boolean;
  program_id?: string;
  partner_id?: string;
  blocked?: boolean;
  block_reason?: string | null;
};
export type PurchaseAnswer = {
  matched: boolean;
  rewarded: boolean;
  internal_order_id: number;
  ledger_rows: number;
  reason?: string;
};
export type Credits = {
  grants: GrantRecord[];
  balance: Record<string, { earned: number; delivered: number }>;
};
export type Event = { type: string; data: Record<string, unknown> };

let codes = 0;

/** Terms that pay 20 percent with no hold period, to affiliates. */
export const PAID_AT_ONCE = {
  commission_rate: 20,
  hold_days: 0,
  allow_affiliate_upgrade: true,
  payout_methods: ['paypal', 'wise'],
} satisfies Partial<ProgramRecord>;

/** A payout file with its lines by column. */
export type PayoutFile = {
  id: string;
  type: string;
  lines: Record<string, string>[];
  text: string;
  headers: Answer<string>['headers'];
};

/** The calls that a merchant makes to the referral endpoints. */
export function merchant(shop: TestWorkspace) {
  return {
    /** Referrer `r`, with an address if the program offers PayPal, and referee `n`. */
    async referral(program: object = { commission_rate: 20 }, referee: object = {}) {
      const made = await this.program(program);
      const enrolled = await this.enroll('r');
      if (made.payout_methods.includes('paypal')) await this.address(enrolled.partner_id, 'r');
      await this.signup('n', { ref_code: enrolled.ref, ...referee });
      return { ...enrolled, programId: made.id };
    },
    /** A server sets where a referrer is paid. */
    async address(partnerId: string, user: string, method = 'paypal') {
      const payout_method = { method, email: `${user}@pay.example` };
      const response = await shop.patch(`/enrollments/${partnerId}`, { payout_method });
      if (response.status !== 200) throw new Error(response.text);
    },
    async balance(user: string) {
      return (await this.stats(user)).affiliate.balance;
    },
    async exportPayouts(query = ''): Promise<PayoutFile> {
      const response = await shop.get<string>(`/payouts/export${query}`);
      if (response.status !== 200) throw new Error(response.text);
      const lines: PayoutFile['lines'] = parse(response.text, { columns: true });
      const { 'x-export-id': id, 'content-type': type } = response.headers;
      return { id: String(id), type: String(type), lines, text: response.text, headers: response.headers };
    },
    pay: (exportId: string, fields: object = {}) =>
      shop.post<{ paid: number; totals: Record<string, number> }>('/payouts', {
        export_id: exportId,
        ...fields,
      }),
    payout: async (exportId: string) => (await shop.get<PayoutWithLines>(`/payouts/${exportId}`)).body,
    fail: (exportId: string, partnerId: string, reason = 'account closed') =>
      shop.post<PayoutLine>(`/payouts/${exportId}/lines/${partnerId}/fail`, { reason }),
    retry: (exportId: string, partnerId: string) =>
      shop.post<PayoutLine>(`/payouts/${exportId}/lines/${partnerId}/retry`),
    async program(fields: Partial<Omit<ProgramRecord, 'signup_credit'>> & { signup_credit?: object } = {}) {
      const response = await shop.post<ProgramRecord>('/programs', {
        name: 'Refer a friend',
        code: `code-${++codes}-${Date.now()}`,
        destination_url: 'https://shop.example/join',
        ...fields,
      });
      if (response.status !== 201) throw new Error(response.text);
      return response.body;
    },
    async enroll(user: string, fields: object = {}, key?: string) {
      const body = { email: `${user}@mail.example`, external_user_id: user, tier: 'free', ...fields };
      const response = await shop.post<Enrolled>('/referrals/enroll', body, key ? { key } : {});
      if (response.status !== 200) throw new Error(response.text);
      return { ...response.body, ref: response.body.referral_link.split('/').at(-1) ?? '' };
    },
    signup: (user: string, fields: object = {}, key?: string): Promise<Answer<SignupAnswer>> =>
      shop.post(
        '/referrals/report-signup',
        { new_user_external_user_id: user, ...fields },
        key ? { key } : {},
      ),
    purchase: (
      user: string,
      order: string,
      amount: number,
      fields: object = {},
    ): Promise<Answer<PurchaseAnswer>> =>
      shop.post('/referrals/report-purchase', { external_user_id: user, order_id: order, amount, ...fields }),
    refund: (
      refund: string,
      order: string,
      amount?: number,
    ): Promise<Answer<{ matched: boolean; internal_order_id: number | null; ledger_rows: number }>> =>
      shop.post('/referrals/report-refund', {
        refund_id: refund,
        order_id: order,
        ...(amount && { amount }),
      }),
    mode: (user: string, mode: string) =>
      shop.post<{ reward_mode: string }>('/referrals/reward-mode', { external_user_id: user, mode }),
    async stats(user: string, query = ''): Promise<Stats> {
      const response = await shop.get<Stats>(
        `/referrals/stats?external_user_id=${encodeURIComponent(user)}${query}`,
      );
      if (response.status !== 200) throw new Error(response.text);
      return response.body;
    },
    credits: async (query: string) => (await shop.get<Credits>(`/credits?${query}`)).body,
  };
}

export type Merchant = ReturnType<typeof merchant>;

/** {@link allQueuedEvents} without those of enrollments, which nearly every test causes. */
export async function queuedEvents(api: TestApi, shop: TestWorkspace): Promise<Event[]> {
  return (await allQueuedEvents(api, shop)).filter(({ type }) => !type.startsWith('enrollment.'));
}

/** Returns what the workspace left for the webhook deliverer, oldest first. */
export async function allQueuedEvents(api: TestApi, shop: TestWorkspace): Promise<Event[]> {
  const { rows } = await api.stores.pool.query<Event>(
    'SELECT type, data FROM webhook_outbox WHERE workspace_id = $1 ORDER BY id',
    [shop.workspace.id],
  );
  return rows;
}

/** Returns how many rows of a table belong to the workspace. */
export async function countRows(api: TestApi, shop: TestWorkspace, table: string): Promise<number> {
  const { rows } = await api.stores.pool.query<{ count: number }>(
    `SELECT count(*) AS count FROM ${table} WHERE workspace_id = $1`,
    [shop.workspace.id],
  );
  return rows[0]?.count ?? 0;
}

/** Moves the workspace's signups back in time: their buyers' purchases may be as old. */
export async function backdateSignups(api: TestApi, shop: TestWorkspace, days: number): Promise<void> {
  await api.stores.pool.query(
    `UPDATE signups SET reported_at = reported_at - $2 * interval '1 day' WHERE workspace_id = $1`,
    [shop.workspace.id, days],
  );
}

/** Stores clicks of one visitor on one link, as the workers do. */
export async function storeClicks(
  api: TestApi,
  given: {
    workspaceId: string;
    linkId: string;
    visitorId?: string;
    at: Date;
    count?: number;
    isBot?: boolean;
  },
): Promise<void> {
  const values = Array.from({ length: given.count ?? 1 }, (_, index) => ({
    workspace_id: given.workspaceId,
    ts: new Date(given.at.getTime() + index).toISOString().replace('T', ' ').replace('Z', ''),
    link_id: given.linkId,
    visitor_id: given.visitorId ?? crypto.randomUUID(),
    channel: 'referral',
    is_bot: given.isBot ?? false,
  }));
  await api.stores.clickhouse.insert({ table: 'clicks', format: 'JSONEachRow', values });
}

/** Returns the id of the link with this slug. */
export async function linkIdOf(api: TestApi, slug: string): Promise<string> {
  const { rows } = await api.stores.pool.query<{ id: string }>('SELECT id FROM links WHERE slug = $1', [
    slug,
  ]);
  if (!rows[0]) throw new Error(`no link ${slug}`);
  return rows[0].id;
}
