import type { ConnectionRecord } from '../../api/connections/schemas.ts';
import { signLemonSqueezy } from '../../core/connections/lemonsqueezy/fixtures/events.ts';
import { signPaddle } from '../../core/connections/paddle/fixtures/events.ts';
import { signPolar } from '../../core/connections/polar/fixtures/events.ts';
import type { Provider } from '../../core/connections/providers.ts';
import type { SentEvent } from '../../core/connections/sent-event.ts';
import { signShopify } from '../../core/connections/shopify/fixtures/events.ts';
import { processEvents } from '../../workers/connections/process-events.ts';
import { findNamedPayments, settleDuePayments } from '../../workers/connections/settle-payments.ts';
import { merchant } from '../referrals/support.ts';
import type { TestApi } from '../support/api.ts';
import { ledgerOf, type ShownEvent, workerDependencies } from './rig.ts';

type OtherProvider = Exclude<Provider, 'stripe'>;

/** Signs an event as the provider does. @param at seconds since the epoch, where the scheme has a time */
export const SIGN: Record<
  OtherProvider,
  (event: SentEvent, secret: string, at: number) => Record<string, string>
> = { paddle: signPaddle, lemonsqueezy: signLemonSqueezy, polar: signPolar, shopify: signShopify };

export const SECRET = 'secret of the webhook';

export type Sent = { secret?: string; at?: number; headers?: Record<string, string> };

/**
 * A workspace with a program of 20 percent, whose account at a provider is connected. Referrer `r` referred user `n`.
 */
export async function providerShop(api: TestApi, provider: OtherProvider, settings: object = {}) {
  const shop = await api.addWorkspace();
  const referral = merchant(shop);
  const { partner_id: partnerId } = await referral.referral(
    { commission_rate: 20, first_sale_only: false },
    { email: 'n@mail.example' },
  );
  const made = await shop.post<ConnectionRecord>('/connections', {
    provider,
    signing_secret: SECRET,
    settings,
  });
  if (made.status !== 201) throw new Error(made.text);
  const dependencies = workerDependencies(api);
  const path = `/connections/${made.body.id}`;

  async function send(event: SentEvent, { secret = SECRET, at, headers = {} }: Sent = {}) {
    const signature = SIGN[provider](event, secret, at ?? Math.floor(Date.now() / 1_000));
    const response = await api.app.inject({
      method: 'POST',
      url: `/api/v1${path}/webhook`,
      headers: { 'content-type': 'application/json', ...event.headers, ...signature, ...headers },
      payload: event.body,
    });
    return { status: response.statusCode, text: response.body };
  }

  async function outcomes() {
    const { events } = (await shop.get<{ events: ShownEvent[] }>(`${path}/events`)).body;
    return events.toReversed().map(({ type, status, reason }) => [type, status, reason]);
  }

  return {
    ...referral,
    shop,
    /** The referrer `r`. */
    partnerId,
    connection: made.body,
    send,
    outcomes,
    /** Sends events one after the other, and processes each before the next. */
    async tell(...events: SentEvent[]) {
      for (const event of events) {
        const answer = await send(event);
        if (answer.status !== 200) throw new Error(answer.text);
        while (await processEvents(dependencies)) {}
      }
    },
    async settleDue() {
      await findNamedPayments(dependencies, null);
      return settleDuePayments(dependencies);
    },
    /** Order, buyer, amount, base, renewal, refunded, and what was earned for `r`, by order. */
    async purchases() {
      const { purchases } = await ledgerOf(api, shop);
      return purchases.map((row) => [
        row.order_id,
        row.external_user_id,
        row.amount_minor,
        row.currency,
        row.commissionable_minor,
        row.is_renewal,
        row.refunded,
        row.earned,
      ]);
    },
    balances: async () => (await ledgerOf(api, shop)).balances,
  };
}
