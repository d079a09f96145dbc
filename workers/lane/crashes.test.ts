import { describe, expect } from 'vitest';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { uuidv7 } from '../../core/ids.ts';
import { type Rig, rigTest } from '../../test/support/worker-rig.ts';
import { click, heartbeat, identify, order } from '../test-support/events.ts';
import type { LaneState } from './lane.ts';

const STATES: LaneState[] = ['prepared', 'intended', 'block_inserted', 'inserted', 'advanced'];
const MIDNIGHT = Date.UTC(2026, 10, 1) * 1000;

/** 400 clicks on both sides of a month's end, an identify, two reports of an order. */
async function written(rig: Rig) {
  const stream = await rig.stream('ingest-0');
  const { workspace } = rig;
  const link = uuidv7();
  for (let batch = 0; batch < 20; batch++) {
    const from = MIDNIGHT - 10_000 + batch * 1_000;
    stream.append(
      Array.from({ length: 20 }, (_, i) =>
        click({ workspace, link, visitor: uuidv7(), ts: from + i, flags: CLICK_FLAGS.counted }),
      ),
    );
  }
  stream.append([
    identify({ workspace, visitor: uuidv7(), ts: MIDNIGHT + 50_000, email: 'A@Example.com' }),
    order({ workspace, ts: MIDNIGHT + 50_001, orderId: 'o-1' }),
    order({ workspace, ts: MIDNIGHT + 50_002, orderId: 'o-1', source: 'server' }),
    heartbeat(MIDNIGHT + 60_000),
  ]);
  await rig.stores.pool.query(
    `WITH d AS (INSERT INTO destinations (id, workspace_id, name, destination_url)
       VALUES (gen_random_uuid(), $2, 'd', 'https://example.com') RETURNING id),
     l AS (INSERT INTO links (id, workspace_id, destination_id, slug, created_at, updated_at)
       SELECT $1, $2, d.id, 's', now(), now() FROM d RETURNING id)
     INSERT INTO link_leases (link_id, stream_id, granted) SELECT l.id, $3, 1000 FROM l`,
    [link, workspace, stream.streamId],
  );
  return stream;
}

describe('a lane that fails', () => {
  rigTest.for(STATES)('when %s has every event once afterwards', async (state, { rig }) => {
    const stream = await written(rig);
    let failures = 0;
    rig.work({
      onState(reached) {
        if (reached !== state || failures > 0) return;
        failures += 1;
        throw new Error(`failure injected when ${state}`);
      },
    });
    await rig.settled(stream);
    expect(failures).toBe(1);
    expect(await rig.stored()).toEqual({ rows: 400, distinct: 400 });
    expect(await rig.stored('identifies')).toEqual({ rows: 1, distinct: 1 });
    const { rows: leases } = await rig.stores.pool.query('SELECT used FROM link_leases');
    expect(leases).toEqual([{ used: 400 }]);
    await rig.published();
    expect(
      await rig.ask('SELECT order_id, toInt32(count()) AS rows FROM orders FINAL GROUP BY order_id'),
    ).toEqual({
      order_id: 'o-1',
      rows: 1,
    });
    const { rows: orders } = await rig.stores.pool.query('SELECT order_id, source FROM orders');
    expect(orders).toEqual([{ order_id: 'o-1', source: 'server' }]);
    const { rows: identities } = await rig.stores.pool.query('SELECT email FROM identities');
    expect(identities).toEqual([{ email: 'a@example.com' }]);
    const { rows: lanes } = await rig.stores.pool.query('SELECT intent FROM log_lanes');
    expect(lanes).toEqual([{ intent: null }]);
  });
});
