import { Registry } from 'prom-client';
import Stripe from 'stripe';
import type { ConnectionRecord } from '../../api/connections/schemas.ts';
import type { StripeEvent } from '../../core/connections/stripe/fixtures/events.ts';
import { createConnectionSealer } from '../../sql/connections/sealer.ts';
import { type ConnectionDependencies, processEvents } from '../../workers/connections/process-events.ts';
import { findNamedPayments, settleDuePayments } from '../../workers/connections/settle-payments.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';
import { merchant } from '../referrals/support.ts';
import type { Answer, TestApi, TestWorkspace } from '../support/api.ts';

export type ShownEvent = {
  event_id: string;
  type: string;
  status: string;
  reason: string | null;
  order_id: string | null;
};

export const SECRET = 'whsec_test_of_stripe';

/**
 * The dependencies with which a worker processes events. A failed attempt throws, because a test would not notice an
 * attempt that is only repeated later.
 */
export function workerDependencies(
  api: TestApi,
  stripeApiBase = 'http://127.0.0.1:1',
): ConnectionDependencies {
  const { pool, readers } = api.stores;
  return {
    pool,
    readers,
    log: {
      warn({ err }) {
        throw err;
      },
    },
    metrics: createWorkerMetrics(new Registry()),
    sealer: createConnectionSealer(pool),
    stripeApiBase,
  };
}

/** A workspace whose Stripe account is connected. Times of events are seconds. */
export async function stripeShop(api: TestApi, fields: object = {}, stripeApiBase?: string) {
  const shop = await api.addWorkspace();
  const made = await shop.post<ConnectionRecord>('/connections', {
    provider: 'stripe',
    signing_secret: SECRET,
    ...fields,
  });
  if (made.status !== 201) throw new Error(made.text);
  const { id } = made.body;
  const dependencies = workerDependencies(api, stripeApiBase);
  return {
    ...merchant(shop),
    shop,
    connectionId: id,
    /** Sends an event as Stripe does. */
    send: (event: StripeEvent | string, change: SentOptions = {}) => stripeCall(api, id, event, change),
    /** Sends events one after the other, and processes each before the next. */
    async tell(...events: StripeEvent[]) {
      for (const event of events) {
        const answer = await stripeCall(api, id, event);
        if (answer.status !== 200) throw new Error(answer.text);
        await this.work();
      }
    },
    async work() {
      while (await processEvents(dependencies)) {}
    },
    async settleDue() {
      await findNamedPayments(dependencies, null);
      return settleDuePayments(dependencies);
    },
    async events(query = ''): Promise<ShownEvent[]> {
      const answer = await shop.get<{ events: ShownEvent[] }>(`/connections/${id}/events${query}`);
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body.events;
    },
    /** Type, status and reason of every event, oldest first. */
    async outcomes() {
      return (await this.events()).reverse().map(({ type, status, reason }) => [type, status, reason]);
    },
    replay: (event: StripeEvent) => shop.post(`/connections/${id}/events/${event.id}/replay`),
    /** Orders of purchases with what they earned for whom, by order id. */
    async ledger() {
      return ledgerOf(api, shop);
    },
  };
}

export type SentOptions = { secret?: string; timestamp?: number; headers?: Record<string, string> };

/** Sends an event to a connection as Stripe does. */
export async function stripeCall(
  api: TestApi,
  connectionId: string,
  event: StripeEvent | string,
  { secret = SECRET, timestamp, headers = {} }: SentOptions = {},
): Promise<Answer<{ received?: boolean; error?: { code: string; message: string } }>> {
  const payload = typeof event === 'string' ? event : JSON.stringify(event, null, 2);
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload,
    secret,
    ...(timestamp !== undefined && { timestamp }),
  });
  const response = await api.app.inject({
    method: 'POST',
    url: `/api/v1/connections/${connectionId}/webhook`,
    headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature, ...headers },
    payload,
  });
  return {
    status: response.statusCode,
    body: response.json(),
    text: response.body,
    headers: response.headers,
  };
}

/** What must be equal in two histories of the same money: purchases, and balances of referrers by account. */
export async function ledgerOf(api: TestApi, { workspace }: TestWorkspace) {
  const { pool } = api.stores;
  const purchases = await pool.query(
    `SELECT o.order_id, p.external_user_id, p.amount_minor, p.currency, p.commissionable_minor, p.is_renewal,
       p.rewarded, p.reason, (SELECT external_user_id FROM enrollments e WHERE e.id = p.enrollment_id) AS referrer,
       (SELECT coalesce(sum(amount_minor), 0)::bigint FROM refunds r WHERE r.order_internal_id = o.internal_id) AS refunded,
       (SELECT coalesce(sum(amount), 0)::bigint FROM ledger_entries l JOIN commissions c ON c.id = l.commission_id
        WHERE c.order_internal_id = o.internal_id) AS earned
     FROM purchases p JOIN orders o ON o.internal_id = p.order_internal_id
     WHERE p.workspace_id = $1 ORDER BY o.order_id`,
    [workspace.id],
  );
  const balances = await pool.query(
    `SELECT external_user_id, account, unit, sum(amount)::bigint AS amount FROM ledger_entries WHERE workspace_id = $1
     GROUP BY 1, 2, 3 HAVING sum(amount) <> 0 ORDER BY 1, 2, 3`,
    [workspace.id],
  );
  return { purchases: purchases.rows, balances: balances.rows };
}

/** Seconds since the epoch, some time ago. */
export const ago = (seconds: number) => Math.floor(Date.now() / 1_000) - seconds;
