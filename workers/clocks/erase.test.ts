import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { requestErasure } from '../../sql/erasures.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { click, heartbeat, identify } from '../test-support/events.ts';
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
});
