import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { heldMemory } from '../../test/support/held-memory.ts';
import { NIGHTLY } from '../../test/support/nightly.ts';
import { type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';
import { metric } from '../../test/support/worker-rig.ts';
import { CONCURRENCY } from './concurrency-limit.ts';

/** Limit for thousands of deliveries, below the timeout of their tests. */
const MANY_MS = 200_000;
/** Longer than any test: no attempt times out. */
const EVER_MS = 600_000;

let bench: WebhookBench;
let shop: TestWorkspace;
let receiver: Receiver;
beforeEach(async () => {
  bench = await createWebhookBench();
  shop = await bench.api.addWorkspace();
  receiver = await startReceiver();
});
afterEach(async () => {
  await bench.close();
  await receiver.close();
});

const ROUNDS = NIGHTLY ? 8 : 2;

describe('receivers that accept connections and never respond', () => {
  it('delay no other: another receiver gets its clicks and events meanwhile', async () => {
    // With the living one these are as many webhooks as a workspace may have. Webhooks of one host share its places.
    const dead = await Promise.all(Array.from({ length: 19 }, startReceiver));
    bench.work({ responseMs: EVER_MS });
    for (const one of dead) {
      one.answer(() => undefined);
      await bench.hook(shop, one.url, ['click.created', 'credit.earned']);
    }
    await bench.hook(shop, receiver.url, ['click.created', 'credit.earned']);
    const retries = () => metric(bench.registry(), 'hoplog_webhook_attempts_total', { outcome: 'retry' });
    for (let round = 0; round < ROUNDS; round++) {
      bench.clicks(shop, 50);
      await bench.credit(shop);
      await receiver.until((round + 1) * 51);
    }
    expect(await retries(), 'attempts of the dead ones that ended').toBe(0);
    expect(receiver.received).toHaveLength(ROUNDS * 51);
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(ROUNDS * 51);
    expect(dead.every(({ received }) => received.length > 0)).toBe(true);
    for (const one of dead) await one.close();
  });

  it('delay no other webhook of the workspace at the same host', async () => {
    receiver.answer((response, { path }) => {
      if (!path.endsWith('/dead')) response.writeHead(200).end();
    });
    bench.work({ responseMs: EVER_MS });
    for (const name of ['dead', 'alive'])
      await bench.hook(shop, `${receiver.url}/${name}`, ['click.created', 'credit.earned']);
    const arrived = () =>
      new Set(receiver.received.filter(({ path }) => path.endsWith('/alive')).map(({ id }) => id)).size;
    for (const round of [1, 2]) {
      bench.clicks(shop, 40);
      await bench.credit(shop);
      await expect.poll(arrived, { timeout: 20_000 }).toBe(round * 41);
    }
    expect(receiver.received.some(({ path }) => path.endsWith('/dead'))).toBe(true);
  });
});

describe('a thousand clicks a second for one webhook', () => {
  it('arrive, each once, within bounded memory, and leave only the newest in the log', async () => {
    bench.work({ responseMs: EVER_MS });
    const hook = await bench.hook(shop, receiver.url, ['click.created']);
    receiver.answer((response) => setTimeout(() => response.writeHead(200).end('ok'), 10));
    const seconds = NIGHTLY ? 3 : 2;
    let sent = 0;
    let most = 0;
    const began = performance.now();
    while (sent < seconds * 1_000) {
      const due = Math.min(seconds * 1_000, Math.floor(performance.now() - began));
      if (due > sent) bench.clicks(shop, due - sent);
      sent = Math.max(sent, due);
      await sleep(20);
      most = Math.max(most, await metric(bench.registry(), 'hoplog_webhook_attempts_in_flight'));
    }
    await receiver.until(sent, { timeoutMs: MANY_MS });
    const { pool } = bench.api.stores;
    const stored = async () => {
      const { rows } = await pool.query<{ status: string; count: number }>(
        'SELECT status, count(*) AS count FROM webhook_deliveries WHERE webhook_id = $1 GROUP BY status',
        [hook.id],
      );
      return rows;
    };
    // Outcomes are written after the responses.
    await expect.poll(stored).toEqual([{ status: 'delivered', count: expect.any(Number) }]);
    await expect.poll(async () => (await stored())[0]?.count).toBeLessThan(sent);
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(sent);
    expect(receiver.received.length).toBe(sent);
    expect(most).toBeLessThanOrEqual(CONCURRENCY.atATime.fast);
  }, 240_000);

  it('wait in PostgreSQL, not in memory, while the receiver is slow, and none is lost', async () => {
    bench.work();
    await bench.hook(shop, receiver.url, ['click.created']);
    const others = await startReceiver();
    const neighbor = await bench.api.addWorkspace();
    await bench.hook(neighbor, others.url, ['click.created']);
    let isSlow = true;
    receiver.answer((response) => {
      if (isSlow) setTimeout(() => response.writeHead(200).end(), 2_000);
      else response.writeHead(200).end();
    });
    const total = 1_500;
    for (let batch = 0; batch < 30; batch++) {
      bench.clicks(shop, total / 30);
      bench.clicks(neighbor, 1);
      await sleep(100);
    }
    await others.until(30);
    const waiting = () =>
      bench.api.stores.pool.query(`SELECT FROM webhook_deliveries WHERE status = 'pending'`);
    await expect.poll(async () => (await waiting()).rowCount).toBeGreaterThan(total / 2);
    isSlow = false;
    const arrived = () => new Set(receiver.received.map((one) => one.id)).size;
    await expect.poll(arrived, { interval: 50, timeout: MANY_MS }).toBe(total);
    await others.close();
  }, 240_000);
});

describe('ten thousand webhooks', () => {
  it('are kept and served in little memory', { tags: 'nightly', timeout: 240_000 }, async () => {
    const { pool } = bench.api.stores;
    await pool.query(
      `INSERT INTO webhooks (id, workspace_id, url, events, active_since, created_at, updated_at)
       SELECT gen_random_uuid(), $1, $2 || n,
         CASE WHEN n % 5 = 0 THEN '{credit.earned,click.created}'::text[] ELSE '{credit.earned}' END,
         now(), now() + n * interval '1 microsecond', now()
       FROM generate_series(1, 10000) AS n`,
      [shop.workspace.id, `${receiver.url}?`],
    );
    await pool.query(
      `INSERT INTO webhook_secrets (webhook_id, secret, created_at)
       SELECT id, sha256(id::text::bytea), now() FROM webhooks`,
    );
    await pool.query('UPDATE webhook_changes SET version = version + 1');
    const before = heldMemory().heap;
    const held: number[] = [];
    const arrive = async (counts: number[]) => {
      for (const count of counts) {
        await receiver.until(count, { timeoutMs: MANY_MS });
        held.push(heldMemory().heap - before);
      }
    };
    bench.work();
    await bench.credit(shop);
    await arrive([5_000, 10_000]);
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(1);
    receiver.received.length = 0;
    bench.clicks(shop, 1);
    await arrive([1_000, 2_000]);
    expect(Math.max(...held)).toBeLessThan(120 * 2 ** 20);
  });
});
