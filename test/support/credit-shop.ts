import type { GrantDelivery } from '../../sql/fulfilments/grant-deliveries.ts';
import type { Merchant } from '../referrals/support.ts';
import { merchant } from '../referrals/support.ts';
import type { TestWorkspace } from './api.ts';
import { until } from './until.ts';
import type { WebhookBench } from './webhook-bench.ts';

export const KEY = 'rk_test_fulfilment';

export type Fulfilment = {
  id: string;
  secret?: string;
  settings: Record<string, unknown>;
  deliveries: Record<string, number>;
};

/** A workspace whose program grants 5 credits for a signup, with its fulfilment. */
export type CreditShop = Merchant & {
  shop: TestWorkspace;
  programId: string;
  fulfil(provider: 'webhook' | 'stripe_balance', settings: object, more?: object): Promise<Fulfilment>;
  /** Enrolls a new referrer, who earns one credit grant. Returns the referrer's user id. */
  earn(): Promise<string>;
  deliveries(fulfilment: { id: string }, query?: string): Promise<GrantDelivery[]>;
  untilStatus(fulfilment: { id: string }, status: string, count?: number): Promise<GrantDelivery[]>;
  /** The credits that the ledger counts as delivered. */
  delivered(user: string): Promise<number>;
};

export async function createCreditShop(bench: WebhookBench): Promise<CreditShop> {
  const shop = await bench.api.addWorkspace();
  const referral = merchant(shop);
  const program = await referral.program({ credit_enabled: true, signup_credit: { free: 5, paid: 5 } });
  let users = 0;

  const creditShop: CreditShop = {
    ...referral,
    shop,
    programId: program.id,
    async fulfil(provider, settings, more = {}) {
      const body = { provider, program_id: program.id, settings, ...more };
      const answer = await shop.post<Fulfilment>('/fulfilments', body);
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    async earn() {
      const user = `referrer-${++users}`;
      const { ref } = await referral.enroll(user);
      await referral.signup(`referee-${users}`, { ref_code: ref });
      return user;
    },
    async deliveries(fulfilment, query = '') {
      const path = `/fulfilments/${fulfilment.id}/deliveries${query}`;
      return (await shop.get<{ deliveries: GrantDelivery[] }>(path)).body.deliveries;
    },
    untilStatus: (fulfilment, status, count = 1) =>
      until(
        `${count} deliveries ${status}`,
        () => creditShop.deliveries(fulfilment),
        (rows) => rows.filter((row) => row.status === status).length >= count,
      ),
    async delivered(user) {
      return (await referral.credits(`external_user_id=${user}`)).balance.credits?.delivered ?? 0;
    },
  };
  return creditShop;
}
