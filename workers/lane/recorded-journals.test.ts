import { cpSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Condition } from '../../clickhouse/queries/click-conditions.ts';
import { analyticsRows, type Counted } from '../../clickhouse/reports/index.ts';
import type { TextDimension } from '../../core/analytics/dimensions.ts';
import { streamDirectory } from '../../core/event-log/journal/segments.ts';
import { parseInstant } from '../../core/time/timestamps.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';

/** Workspace of the recorded journals. */
const WORKSPACE = '019a0000-0000-7000-8000-000000000001';

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

/** Puts a journal where its stream writes, before a worker looks for it. Version 1 or 2 of clicks. */
async function placeJournal(version: 1 | 2, streamName: string, streamId: string): Promise<void> {
  const recorded = new URL(`../../core/events/fixtures/journal.v${version}`, import.meta.url).pathname;
  await registerStream(rig.stores.pool, streamName, streamId);
  cpSync(recorded, streamDirectory(rig.dataDir, streamName), { recursive: true });
}

/** Waits until ClickHouse has a number of clicks. */
async function stored(clicks: number): Promise<void> {
  await expect.poll(async () => (await rig.stored()).rows).toBe(clicks);
}

it('a journal of version 1 is stored, with empty values where it has none', async () => {
  const { pool } = rig.stores;
  await pool.query('UPDATE workspaces SET id = $1 WHERE id = $2', [WORKSPACE, rig.workspace]);
  await placeJournal(1, 'ingest-0', '01900000-0000-7000-8000-0000000000aa');
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
  // The clicks are inserted first.
  await expect.poll(async () => (await rig.stored('identifies')).rows).toBe(1);
  await expect
    .poll(() => rig.ask('SELECT order_id, amount_minor FROM orders FINAL'))
    .toEqual({ order_id: 'o1', amount_minor: '1999' });
});

it('a journal of version 2 is stored beside it, with all fields', async () => {
  await placeJournal(2, 'ingest-1', '01900000-0000-7000-8000-0000000000bb');
  await stored(5);
  const { clickhouse } = rig.stores;
  const rows = await clickhouse.query({
    query: `SELECT substring(toString(visitor_id), 35) AS visitor, domain, slug, utm_source, utm_medium, utm_campaign,
        utm_term, utm_content, language, trigger, referer_host
      FROM clicks WHERE visitor IN ('06', '07') ORDER BY ts`,
    format: 'JSONEachRow',
  });
  expect(await rows.json()).toEqual([
    {
      visitor: '06',
      domain: 'go.example.com',
      slug: 'spring',
      utm_source: 'twitter',
      utm_medium: 'social',
      utm_campaign: 'winter',
      utm_term: 'shoes',
      utm_content: 'top',
      language: 'de',
      trigger: 'link',
      referer_host: 't.co',
    },
    {
      visitor: '07',
      domain: '',
      slug: 'qr',
      utm_source: '',
      utm_medium: '',
      utm_campaign: '',
      utm_term: '',
      utm_content: '',
      language: '',
      trigger: 'qr',
      referer_host: '',
    },
  ]);
});

it('clicks of all versions answer the same queries', async () => {
  await storeClicks(rig.stores, [
    { workspaceId: WORKSPACE, columns: { utm_campaign: 'autumn', trigger: 'qr', asn: 3_320 } },
  ]);
  const span = {
    from: parseInstant('2000-01-01T00:00:00Z') ?? 0n,
    to: parseInstant('2100-01-01T00:00:00Z') ?? 0n,
  };
  const clicksBy = async (dimension: TextDimension, conditions: Condition[] = []) => {
    const counted: Counted = {
      window: { workspaceId: WORKSPACE, span, hasDeleted: false },
      metrics: ['clicks', 'visitors'],
      keys: [{ kind: 'text', dimension }],
      starts: [],
      timeZone: 'UTC',
      conditions,
      bots: 'include',
      orphans: 'include',
    };
    const page = { order: [{ by: 0, isDescending: false }], limit: 100, offset: 0 };
    const { rows, totals } = await analyticsRows(rig.stores.clickhouse, counted, page);
    const shown = rows.map(({ keys, figures }) => [keys[0], figures.clicks]);
    return { rows: Object.fromEntries(shown), clicks: totals.clicks };
  };
  expect(await clicksBy('utm_campaign')).toEqual({ rows: { '': 4, autumn: 1, winter: 1 }, clicks: 6 });
  expect(await clicksBy('trigger')).toEqual({ rows: { link: 4, qr: 2 }, clicks: 6 });
  const isQr: Condition = { kind: 'text', dimension: 'trigger', operator: 'is', values: ['qr'] };
  expect(await clicksBy('utm_campaign', [isQr])).toEqual({ rows: { '': 1, autumn: 1 }, clicks: 2 });
});
