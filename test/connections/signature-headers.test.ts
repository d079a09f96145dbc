import Stripe from 'stripe';
import { describe, expect } from 'vitest';
import type { ConnectionRecord } from '../../api/connections/schemas.ts';
import { invoice, stripeEvent } from '../../core/connections/stripe/fixtures/events.ts';
import type { TestApi } from '../support/api.ts';
import { apiTest } from '../support/fixtures.ts';
import { SIGN, SECRET as TEXT_SECRET } from './provider-rig.ts';
import { lemonSqueezyStory, paddleStory, polarStory, shopifyStory } from './provider-stories.ts';
import { ago, SECRET as STRIPE_SECRET } from './rig.ts';

/** An event with the headers that contain its id, type and signature. */
function signed(tell: typeof paddleStory) {
  const { provider, first } = tell();
  const [event] = first;
  if (!event) throw new Error('the story has no event');
  const headers = { ...event.headers, ...SIGN[provider](event, TEXT_SECRET, ago(0)) };
  return { provider, secret: TEXT_SECRET, payload: event.body, headers };
}

function signedByStripe() {
  const payload = JSON.stringify(stripeEvent('invoice.paid', invoice('in_1', 1000), ago(0)));
  const header = Stripe.webhooks.generateTestHeaderString({ payload, secret: STRIPE_SECRET });
  return { provider: 'stripe', secret: STRIPE_SECRET, payload, headers: { 'stripe-signature': header } };
}

/** Base64 says the same without its padding. */
const unpadded = (text: string) => text.replace(/=+$/, '');

/**
 * Values that differ from the right one.
 *
 * @param right what the provider sent
 */
function garbage(right: string): string[] {
  const parts = right.split(/([,;=. ])/);
  return [
    '',
    ' ',
    ...[1, Math.floor(right.length / 2), right.length - 1].map((end) => right.slice(0, end)),
    ...parts.map((_, nth) => parts.slice(0, nth).join('')),
    ...parts.map((_, nth) => parts.filter((__, other) => other !== nth).join('')),
    right.replace(/[0-9a-zA-Z/+]{16,}/g, ''),
    right.replace(/[0-9a-zA-Z/+]{16,}/g, (text) => 'é'.repeat(text.length)),
    right.replace(/[0-9a-zA-Z/+]{16,}/g, (text) => 'é'.repeat(Math.floor(text.length / 2))),
    right.replace(/[0-9a-zA-Z/+]{16,}/g, (text) => 'zz!%'.repeat(text.length / 4)),
    right.replace(/[0-9a-zA-Z/+]{16,}/g, (text) => '0'.repeat(text.length)),
    `${right.replace(/[0-9a-f]{64}/, '0'.repeat(64))},v1=`,
    right.replace(/\d{10}/, '99999999999999999999'),
    right.replace(/\d{10}/, '-1'),
    right.replace(/\d{10}/, 'NaN'),
    'é'.repeat(32),
    'ÿ',
    't=,v1=',
    'ts=;h1=',
    'v1,',
    ',,,;;;===',
    'x'.repeat(100 * 1_024),
    `${'v1=,'.repeat(20_000)}t=1`,
  ].filter((value) => unpadded(value) !== unpadded(right));
}

describe.each([
  ['Stripe', signedByStripe],
  ['Paddle', () => signed(paddleStory)],
  ['Lemon Squeezy', () => signed(lemonSqueezyStory)],
  ['Polar', () => signed(polarStory)],
  ['Shopify', () => signed(shopifyStory)],
] as const)('%s', (_, sign) => {
  async function connected(api: TestApi) {
    const { provider, secret, payload, headers } = sign();
    const shop = await api.addWorkspace();
    const made = await shop.post<ConnectionRecord>('/connections', { provider, signing_secret: secret });
    const send = async (name: string, value: string | undefined) => {
      const { [name]: __, ...others } = headers as Record<string, string>;
      const response = await api.app.inject({
        method: 'POST',
        url: `/api/v1/connections/${made.body.id}/webhook`,
        headers: {
          'content-type': 'application/json',
          ...others,
          ...(value !== undefined && { [name]: value }),
        },
        payload,
      });
      return response;
    };
    return { headers: Object.entries(headers as Record<string, string>), send };
  }

  apiTest('each of its headers with garbage is refused with 400', async ({ api }) => {
    const { headers, send } = await connected(api);
    for (const [name, right] of headers) {
      const isSignature = /signature|hmac|timestamp/.test(name);
      for (const value of [undefined, ...garbage(right)]) {
        const response = await send(name, value);
        const told = [name, value?.slice(0, 200), response.statusCode];
        // A text of an id or a topic may be any; a signature may not.
        expect(told).toEqual([name, value?.slice(0, 200), isSignature ? 400 : expect.toBeOneOf([200, 400])]);
        if (response.statusCode === 400) expect(response.json().error.code).toBe('bad_request');
      }
    }
  });

  apiTest('each of its headers doubled, or with more behind it, is 400 or counts', async ({ api }) => {
    const { headers, send } = await connected(api);
    for (const [name, right] of headers) {
      for (const value of [
        `${right}${right}`,
        `${right}, ${right}`,
        `${right},v1=`,
        `${right};h1=`,
        `${right} v1,`,
      ]) {
        const { statusCode } = await send(name, value);
        expect([name, value, [200, 400].includes(statusCode)]).toEqual([name, value, true]);
      }
      expect((await send(name, right)).statusCode).toBe(200);
    }
  });
});
