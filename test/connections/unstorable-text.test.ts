import { describe, expect } from 'vitest';
import type { SentEvent } from '../../core/connections/sent-event.ts';
import { invoice, stripeEvent, stripeObject } from '../../core/connections/stripe/fixtures/events.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { providerShop } from './provider-rig.ts';
import { lemonSqueezyStory, paddleStory, polarStory, shopifyStory } from './provider-stories.ts';
import { ago, stripeShop } from './rig.ts';

/** Events of providers with texts that PostgreSQL can't hold. A failed attempt of a worker throws; see `rig.ts`. */

const NUL = '\u0000';
const HALF = '\ud800';

/** Returns copies of a body, in each of which one text has the characters. */
function mutations(body: unknown, characters: string): unknown[] {
  if (typeof body === 'string') return [`${body.slice(0, 2)}${characters}${body.slice(2)}`];
  if (Array.isArray(body)) {
    return body.flatMap((part, n) => mutations(part, characters).map((changed) => body.with(n, changed)));
  }
  if (typeof body !== 'object' || body === null) return [];
  return Object.entries(body).flatMap(([key, part]) =>
    mutations(part, characters).map((changed) => ({ ...body, [key]: changed })),
  );
}

/** Lemon Squeezy's events have no id: the state of the object is it. */
function withOwnState(body: object): object {
  const { data } = body as { data?: { attributes?: object } };
  return data?.attributes ? { ...body, data: { ...data, attributes: { ...data.attributes, nth } } } : body;
}

let nth = 0;
/** Gives an event an id of its own where the provider has ids of events. Otherwise it would count as sent twice. */
function withOwnId(body: object, headers: Record<string, string>): SentEvent {
  nth += 1;
  const named = Object.fromEntries(
    ['id', 'event_id'].flatMap((name) => {
      const id: unknown = (body as Record<string, unknown>)[name];
      return typeof id === 'string' ? [[name, `${id}_${nth}`]] : [];
    }),
  );
  const own = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, /-id$/.test(name) ? `${value}_${nth}` : value]),
  );
  const isEnvelope = 'type' in body || 'event_type' in body;
  return { body: JSON.stringify(isEnvelope ? { ...body, ...named } : withOwnState(body)), headers: own };
}

describe.each([
  ['Paddle', paddleStory],
  ['Lemon Squeezy', lemonSqueezyStory],
  ['Polar', polarStory],
  ['Shopify', shopifyStory],
] as const)('%s', (_, tell) => {
  test.for<[name: string, characters: string]>([
    ['NUL', NUL],
    ['half a surrogate pair', HALF],
  ])(
    'an event with %s in any of its texts is recorded, or says what is wrong',
    async ([__, characters], { api }) => {
      const { provider, first, partial } = tell();
      const shop = await providerShop(api, provider);
      await shop.tell(...first);
      for (const { body, headers } of [...first, partial.event]) {
        for (const changed of mutations(JSON.parse(body), characters)) {
          await shop.tell(withOwnId(changed as object, headers));
        }
      }
      const outcomes = await shop.outcomes();
      expect(outcomes.length).toBeGreaterThan(20);
      expect(
        outcomes.filter(([, status, reason]) => status === 'pending' || reason === 'internal_error'),
      ).toEqual([]);
    },
  );
});

describe('Stripe', () => {
  const paid = (fields: object) => stripeEvent('invoice.paid', invoice('in_1', 1_000, { ...fields }), ago(0));

  test.for<[name: string, characters: string]>([
    ['NUL', NUL],
    ['half a surrogate pair', HALF],
  ])(
    'an event with %s in any of its texts is recorded, or says what is wrong',
    async ([_, characters], { api }) => {
      const shop = await stripeShop(api);
      const charge = stripeObject('charge', {
        id: 'ch_1',
        customer: 'cus_1',
        amount: 1_000,
        amount_refunded: 500,
      });
      const objects = [
        paid({}),
        stripeEvent('checkout.session.completed', stripeObject('checkout.session'), ago(0)),
        stripeEvent('charge.refunded', charge, ago(0)),
        stripeEvent('customer.created', stripeObject('customer'), ago(0)),
      ];
      for (const event of objects) {
        for (const changed of mutations(event, characters)) {
          const { body } = withOwnId(changed as object, {});
          const answer = await shop.send(body);
          expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
          await shop.work();
        }
      }
      const outcomes = await shop.outcomes();
      expect(outcomes.length).toBeGreaterThan(20);
      expect(
        outcomes.filter(([, status, reason]) => status === 'pending' || reason === 'internal_error'),
      ).toEqual([]);
    },
  );

  test('the character is left out of an email, and the payment counts', async ({ api }) => {
    const shop = await stripeShop(api);
    await shop.referral({ commission_rate: 20, first_sale_only: false }, { email: 'u@mail.example' });
    await shop.tell(paid({ customer_email: `u${NUL}@mail${HALF}.example` }));
    expect(await shop.outcomes()).toEqual([['invoice.paid', 'recorded', null]]);
  });

  test('an id with the character fails, with the reason', async ({ api }) => {
    const shop = await stripeShop(api);
    await shop.tell(stripeEvent('invoice.paid', invoice(`in_${NUL}1`, 1_000), ago(0)));
    await shop.tell(stripeEvent('invoice.paid', invoice('in_2', 1_000, { customer: `cus_${HALF}` }), ago(1)));
    expect(await shop.outcomes()).toEqual([
      ['invoice.paid', 'failed', "can't be read: `id` must not contain the NUL character"],
      ['invoice.paid', 'failed', "can't be read: `customer` must be well-formed Unicode"],
    ]);
  });

  test('an event whose id can’t be stored is stored once, whatever its id, type, or customer', async ({
    api,
  }) => {
    const shop = await stripeShop(api);
    const long = '🙂'.repeat(5_000);
    const ids = [NUL, `${NUL}${NUL}`, HALF, `evt_x${NUL}`, `evt_${NUL}x`, `evt_${long}`, `evt_${long}x`];
    const events = [
      ...ids.map((id, n) => ({ ...paid({ id: `in_${n}` }), id })),
      paid({ id: 'in_8', customer: `cus_${long}` }),
      paid({ id: 'in_9', customer: NUL }),
      { ...paid({ id: 'in_10' }), type: `invoice.${long}` },
      { ...paid({ id: 'in_11' }), type: NUL },
    ];
    for (const event of [...events, ...events]) {
      const { status, text } = await shop.send(JSON.stringify(event));
      expect([status, text]).toEqual([200, expect.any(String)]);
    }
    await shop.work();
    expect((await shop.outcomes()).map(([, status, reason]) => [status, reason])).toEqual([
      ...ids.map(() => ['unmatched', 'no_buyer']),
      ['failed', "can't be read: the id of the customer must be at most 180 characters"],
      ['failed', "can't be read: `customer` must not contain the NUL character"],
      ['ignored', 'type_not_used'],
      ['ignored', 'type_not_used'],
    ]);
  });

  test('times that no calendar has and ids that are too long fail, with the reason', async ({ api }) => {
    const shop = await stripeShop(api);
    const long = 'x'.repeat(5_000);
    const at = (created: number, id: string) => ({
      ...stripeEvent('invoice.paid', invoice(id, 1_000), ago(0)),
      created,
    });
    await shop.tell(
      at(9e15, 'in_1'),
      at(-1e12, 'in_2'),
      paid({ status_transitions: { paid_at: 9e15 } }),
      stripeEvent('invoice.paid', invoice(`in_${long}`, 1_000), ago(0)),
      paid({ subscription: `sub_${long}` }),
      paid({ discounts: [`di_${long}`] }),
    );
    expect((await shop.outcomes()).map(([, status, reason]) => [status, reason])).toEqual([
      ['failed', "can't be read: the time of the event must be in the years 1970 to 9999"],
      ['failed', "can't be read: the time of the event must be in the years 1970 to 9999"],
      ['failed', "can't be read: the time of the payment must be in the years 1970 to 9999"],
      ['failed', "can't be read: the id of the payment must be at most 180 characters"],
      ['failed', "can't be read: the id of the subscription must be at most 180 characters"],
      ['failed', "can't be read: a code must be at most 255 characters"],
    ]);
  });
});
