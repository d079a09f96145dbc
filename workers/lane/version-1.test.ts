import { cpSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { streamDirectory } from '../../core/event-log/journal/segments.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';

const RECORDED = new URL('../../core/events/fixtures/journal.v1', import.meta.url).pathname;
/** Of the recorded journal: its stream, its workspace, and the sequence of its last event. */
const STREAM = '01900000-0000-7000-8000-0000000000aa';
const WORKSPACE = '019a0000-0000-7000-8000-000000000001';

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

/** Waits until ClickHouse has a number of clicks. */
async function stored(clicks: number): Promise<void> {
  await expect.poll(async () => (await rig.stored()).rows, { timeout: 30_000 }).toBe(clicks);
}

it('a journal of version 1 is stored, with empty values where it has none', async () => {
  const { pool } = rig.stores;
  await pool.query('UPDATE workspaces SET id = $1 WHERE id = $2', [WORKSPACE, rig.workspace]);
  await registerStream(pool, 'ingest-0', STREAM);
  cpSync(RECORDED, streamDirectory(rig.dataDir, 'ingest-0'), { recursive: true });
  rig.work();
  await stored(3);

  const derived = `substring(toString(visitor_id), 35) AS visitor, channel, referer_host, device, is_bot`;
  const { clickhouse } = rig.stores;
  const rows = await clickhouse.query({
    query: `SELECT ${derived} FROM clicks ORDER BY ts`,
    format: 'JSONEachRow',
  });
  expect(await rows.json()).toEqual([
    { visitor: '03', channel: 'twitter', referer_host: 't.co', device: 'mobile', is_bot: false },
    { visitor: '04', channel: 'newsletter', referer_host: '', device: 'mobile', is_bot: false },
    { visitor: '05', channel: 'other', referer_host: 'com.slack', device: 'other', is_bot: true },
  ]);
  const empty = ['domain', 'slug', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'];
  const all = [...empty, 'language', 'rule_id', 'variant_id'].map((name) => `${name} = ''`).join(' AND ');
  expect(
    await rig.ask(`SELECT countIf(${all} AND trigger = 'link' AND asn = 0) AS clicks FROM clicks`),
  ).toEqual({
    clicks: '3',
  });
  expect((await rig.stored('identifies')).rows).toBe(1);
  await rig.published();
  expect(await rig.ask('SELECT order_id, amount_minor FROM orders FINAL')).toEqual({
    order_id: 'o1',
    amount_minor: '1999',
  });
});

it('clicks of both versions answer one query', async () => {
  await storeClicks(rig.stores, [
    { workspaceId: WORKSPACE, columns: { utm_campaign: 'autumn', trigger: 'qr', asn: 3_320 } },
  ]);
  const found = await rig.ask(
    `SELECT groupArray((campaign, clicks)) AS rows FROM (SELECT utm_campaign AS campaign, count() AS clicks
     FROM clicks WHERE workspace_id = '${WORKSPACE}' GROUP BY campaign ORDER BY campaign)`,
  );
  expect(found).toEqual({
    rows: [
      ['', '3'],
      ['autumn', '1'],
    ],
  });
});
