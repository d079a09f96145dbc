import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { deliveryBody } from '../../core/webhooks/delivery.ts';
import { addDeliveries, type DeliveryState } from '../../sql/delivery-queue.ts';
import { requestErasure } from '../../sql/erasures.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { click, heartbeat, identify } from '../test-support/events.ts';
import { pendingState } from '../webhooks/outcome.ts';
import { eraseRequested } from './erase.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await createRig();
});
afterEach(() => rig.close());

async function left(): Promise<string[]> {
  const result = await rig.stores.clickhouse.query({
    query: 'SELECT channel FROM clicks ORDER BY ts SETTINGS apply_deleted_mask = 0',
    format: 'JSONEachRow',
  });
  return (await result.json<{ channel: string }>()).map(({ channel }) => channel);
}

describe('erasures', () => {
  it('rewrite the store, and are done once the watermark has passed the request', async () => {
    const { pool, clickhouse } = rig.stores;
    const { workspace } = rig;
    const [erased, kept, button, link] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    const other = uuidv7();
    const start = Date.now() * 1000;
    const stream = await rig.stream('ingest-0');
    stream.append([
      click({ workspace, link, visitor: erased, ts: start, channel: 'erased visitor' }),
      click({ workspace, link: button, visitor: kept, ts: start + 1, channel: 'erased link' }),
      click({ workspace, link, visitor: kept, ts: start + 2, channel: 'kept' }),
      click({ workspace: other, link, visitor: erased, ts: start + 3, channel: 'other workspace' }),
      identify({ workspace, visitor: erased, ts: start + 4, email: 'a@example.com' }),
    ]);
    rig.work();
    await rig.settled(stream);
    const metrics = createWorkerMetrics(new Registry());
    await requestErasure(pool, { workspaceId: workspace, kind: 'visitor', targetId: erased });
    await requestErasure(pool, { workspaceId: workspace, kind: 'link', targetId: button });
    const open = async () =>
      (await pool.query<{ open: number }>('SELECT count(*) AS open FROM erasures WHERE done_at IS NULL'))
        .rows[0]?.open;
    while ((await left()).length > 2) {
      await eraseRequested({ pool, clickhouse, metrics });
      await sleep(20);
    }
    expect(await left()).toEqual(['kept', 'other workspace']);
    expect(await rig.stored('identifies')).toMatchObject({ rows: 0 });
    expect((await pool.query('SELECT FROM identities')).rowCount).toBe(0);
    await eraseRequested({ pool, clickhouse, metrics });
    expect(await open()).toBe(2); // an older click may still be on its way
    stream.append([heartbeat(Date.now() * 1000 + 60_000_000)]);
    await rig.settled(stream);
    while ((await open()) !== 0) await eraseRequested({ pool, clickhouse, metrics });
    const hidden = await rig.ask<{ link_id: string }>('SELECT link_id FROM deleted_links');
    expect(hidden).toEqual({ link_id: button });
  });

  it('that only wait for the watermark keep no younger one waiting, however many they are', async () => {
    const { pool, clickhouse } = rig.stores;
    const { workspace } = rig;
    const youngest = uuidv7();
    const stream = await rig.stream('ingest-0');
    stream.append([click({ workspace, link: youngest, visitor: uuidv7(), ts: Date.now() * 1000 })]);
    rig.work();
    await rig.settled(stream);
    for (let n = 0; n < 500; n++) {
      await requestErasure(pool, { workspaceId: workspace, kind: 'visitor', targetId: uuidv7() });
    }
    await requestErasure(pool, { workspaceId: workspace, kind: 'link', targetId: youngest });
    const metrics = createWorkerMetrics(new Registry());
    while ((await left()).length > 0) {
      await eraseRequested({ pool, clickhouse, metrics });
      await sleep(20);
    }
    const { rows } = await pool.query('SELECT FROM erasures WHERE done_at IS NULL');
    expect(rows).toHaveLength(501);
  });

  it('of a link take the deliveries of its clicks along, made or not, and those that come later are not kept', async () => {
    const { pool, clickhouse } = rig.stores;
    const [webhookId, erased, kept] = [uuidv7(), uuidv7(), uuidv7()];
    await pool.query(
      `INSERT INTO webhooks (id, workspace_id, url, events, active_since, created_at, updated_at)
       VALUES ($1, $2, 'https://a.example', '{click.created}', now(), now(), now())`,
      [webhookId, rig.workspace],
    );
    const over = { ...pendingState(1, 0), status: 'failed' as const, nextAttemptAt: null };
    let micros = 0;
    const add = (link: string, type: string, state: DeliveryState) => {
      const [id, eventId] = [uuidv7(), uuidv7()];
      const body = deliveryBody({ id: eventId, type, created_at: '', data: { link_id: link } });
      const createdAt = ++micros;
      const delivery = { id, workspaceId: rig.workspace, webhookId, eventId, type, body, createdAt, state };
      return addDeliveries(pool, [delivery]);
    };
    for (const link of [erased, kept]) {
      await add(link, 'click.created', pendingState(0, 0));
      await add(link, 'click.created', over);
    }
    await add(erased, 'sale.created', over);
    await requestErasure(pool, { workspaceId: rig.workspace, kind: 'link', targetId: erased });
    await eraseRequested({ pool, clickhouse, metrics: createWorkerMetrics(new Registry()) });
    await add(erased, 'click.created', over);
    const { rows } = await pool.query<{ what: string }>(
      `SELECT type || ' ' || status || ' ' || (body::json #>> '{data,link_id}') AS what FROM webhook_deliveries ORDER BY created_at`,
    );
    expect(rows.map(({ what }) => what)).toEqual([
      `click.created pending ${kept}`,
      `click.created failed ${kept}`,
      `sale.created failed ${erased}`,
    ]);
  });
});
