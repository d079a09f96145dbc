import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import { follow, makeLink, untilClicks } from './support/first-click.ts';
import { isGenuine, type Received, type Receiver, startReceiver } from './support/receiver.ts';
import { type ServedWorkspace, servedWorkspace } from './support/shared-service.ts';
import { until } from './support/until.ts';

const EXAMPLE = fileURLToPath(new URL('../examples/webhook-receiver/receiver.ts', import.meta.url));

/** The whole service as `npm start` runs it, and a receiver beside it. */

let served: ServedWorkspace;
let service: ServedWorkspace['service'];
let receiver: Receiver;
let key: string;

beforeAll(async () => {
  receiver = await startReceiver();
  served = await servedWorkspace();
  service = served.service;
  key = service.demo.secret_key;
});
afterAll(async () => {
  await served?.close();
  await receiver.close();
});

async function call<T>(method: string, path: string, body?: object): Promise<{ status: number; body: T }> {
  const response = await fetch(`${service.api_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as T };
}

/** Waits for an event of the type. A late delivery is repeated, so the number of events says nothing. */
const arrived = (type: string): Promise<Received> =>
  until(
    `a delivery of ${type}`,
    () => receiver.received.find(({ event }) => event.type === type),
    (found): found is Received => found !== undefined,
  );

test('a click, an order and a test event reach a webhook within seconds, verified by the published library', async () => {
  const { status, body: hook } = await call<{ id: string; secret: string }>('POST', '/webhooks', {
    url: receiver.url,
    events: ['click.created', 'sale.created'],
  });
  expect(status).toBe(201);
  const link = await makeLink(service, key, 'hooked');
  expect((await follow(link)).status).toBe(302);
  const click = await arrived('click.created');
  expect(isGenuine(hook.secret, click)).toBe(true);
  const [shown] = await untilClicks(service, key, link, 1);
  expect(click.event).toEqual({
    id: shown?.id,
    type: 'click.created',
    created_at: click.event.data.ts,
    data: shown,
  });

  const visitor_id = click.event.data.visitor_id;
  const order = { order_id: 'o-1', amount: 12.5, currency: 'eur', visitor_id };
  expect((await call('POST', '/track/order', order)).status).toBe(202);
  const sale = await arrived('sale.created');
  expect(isGenuine(hook.secret, sale)).toBe(true);
  expect(sale.event).toMatchObject({
    type: 'sale.created',
    data: { order_id: 'o-1', amount: 12.5, currency: 'eur', visitor_id },
  });

  expect((await call('POST', `/webhooks/${hook.id}/test`, {})).status).toBe(201);
  expect((await arrived('webhook.test')).event).toMatchObject({ data: {} });

  const delivered = async () => {
    const { body } = await call<{ deliveries: { type: string; status: string }[] }>(
      'GET',
      `/webhooks/${hook.id}/deliveries`,
    );
    return body.deliveries
      .filter((one) => one.status === 'delivered')
      .map((one) => one.type)
      .toSorted();
  };
  await expect.poll(delivered).toEqual(['click.created', 'sale.created', 'webhook.test']);
  expect((await call<{ features: string[] }>('GET', '/me')).body.features).toContain('webhooks');
});

test('the receiver in the examples accepts a genuine test event, and nothing else', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const { body: hook } = await call<{ id: string; secret: string }>('POST', '/webhooks', {
    url,
    events: ['lead.created'],
  });
  const example = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', EXAMPLE, hook.secret, String(port)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const lines = createInterface(example.stdout)[Symbol.asyncIterator]();
  try {
    expect((await lines.next()).value).toBe(`listening on port ${port}`);
    const forged = await fetch(url, { method: 'POST', body: '{}', headers: { 'webhook-id': 'x' } });
    expect(forged.status).toBe(400);
    await call('POST', `/webhooks/${hook.id}/test`, {});
    expect((await lines.next()).value).toBe('webhook.test {}');
  } finally {
    const ended = once(example, 'exit');
    example.kill();
    await ended;
  }
});
