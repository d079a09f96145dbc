import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HostAddress } from '../../core/webhooks/resolve-host.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';

let bench: WebhookBench;
let shop: TestWorkspace;
let receiver: Receiver;
let port: string;
/** Responses of the name server, in order; the last one repeats. */
let answers: HostAddress[][] = [];
let asked = 0;

beforeAll(async () => {
  bench = await createWebhookBench();
  shop = await bench.api.addWorkspace();
  receiver = await startReceiver();
  port = new URL(receiver.url).port;
  bench.work({
    allowPrivate: false,
    // A network may leave an attempt to connect without any response.
    responseMs: 2_000,
    resolve: async () => {
      asked += 1;
      return (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    },
  });
});
beforeEach(() => {
  asked = 0;
  // A retry would resolve the name again.
  bench.stopClock();
});
afterAll(async () => {
  await bench.close();
  await receiver.close();
});

const four = (address: string): HostAddress => ({ address, family: 4 });
const six = (address: string): HostAddress => ({ address, family: 6 });

/** Returns the outcome of a delivery to this URL, whose webhook was created while private addresses were allowed. */
async function deliverTo(url: string) {
  const hook = await bench.hook(shop, url, ['lead.created']);
  await shop.post(`/webhooks/${hook.id}/test`);
  return bench.untilDelivery(shop, hook, (one) => one.attempts > 0);
}

describe('a connection', () => {
  it.each([
    ['127.0.0.1', [four('127.0.0.1')]],
    ['10.0.0.1', [four('10.0.0.1')]],
    ['169.254.169.254', [four('169.254.169.254')]],
    ['::1', [six('::1')]],
    ['::ffff:127.0.0.1', [six('::ffff:127.0.0.1')]],
    ['64:ff9b::7f00:1', [six('64:ff9b::7f00:1')]],
    ['127.0.0.1', [four('8.8.8.8'), four('127.0.0.1')]],
  ])('is not made to a name that has come to mean %s', async (address, resolved) => {
    answers = [resolved];
    const name = `rebound-${Math.random().toString(36).slice(2)}.example`;
    const delivery = await deliverTo(`http://${name}:${port}/hook`);
    expect(delivery).toMatchObject({ status: 'failed', attempts: 1, response_status: null });
    expect(delivery.error).toBe(`${name} resolves to ${address}, which is not a globally reachable address`);
    expect(receiver.received).toEqual([]);
  });

  it('is made to the address that was checked: the name is not resolved again in between', async () => {
    // The check gets a public address. A second lookup for the connection would get a private one.
    answers = [[four('192.0.0.9')], [four('127.0.0.1')]];
    const hook = await bench.hook(shop, `http://flipping.example:${port}/hook`, ['lead.created']);
    await shop.post(`/webhooks/${hook.id}/test`);
    await bench.untilDelivery(shop, hook, (one) => one.attempts > 0);
    expect(asked).toBe(1);
    expect(receiver.received).toEqual([]);
  });

  it.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:7f00:1]', '0x7f.1', '0'])(
    'is not made to %s, although its webhook is there',
    async (host) => {
      // Two spellings of an address are one URL, and so one webhook.
      const delivery = await deliverTo(`http://${host}:${port}/${encodeURIComponent(host)}`);
      expect(delivery).toMatchObject({ status: 'failed', attempts: 1 });
      expect(delivery.error).toContain('not a globally reachable address');
      expect(receiver.received).toEqual([]);
    },
  );
});
