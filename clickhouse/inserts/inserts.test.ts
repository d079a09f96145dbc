import { randomBytes } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { ClickLabels } from '../../core/events/click-labels.ts';
import { clickKey, LINK_AT, VISITOR_AT, WORKSPACE_AT } from '../../core/events/click-reader.ts';
import { bytesToUuid, uuidToBytes, uuidv7 } from '../../core/ids.ts';

import { creditedClick, enrichedClick } from '../../test/support/enriched-click.ts';
import { storesTest } from '../../test/support/fixtures.ts';
import type { TestStores } from '../../test/support/stores.ts';
import { attributedSharesBlock } from './attributed-shares.ts';
import { type ClickRow, clickBlock } from './clicks.ts';
import { identifyBlock } from './identifies.ts';
import { insertBlock } from './insert-block.ts';
import { orderBlock } from './orders.ts';
import { presentSequences } from './present-sequences.ts';
import { storedAbove } from './stored-above.ts';

const TS = Date.UTC(2026, 10, 20, 12) * 1000;

async function rowsOf<Row>(stores: TestStores, query: string): Promise<Row[]> {
  const result = await stores.clickhouse.query({ query, format: 'JSONEachRow' });
  return result.json<Row>();
}

const LABELS: ClickLabels = {
  domain: 'go.example.com',
  slug: 'Sale-1',
  utmSource: 'twitter',
  utmMedium: 'social',
  utmCampaign: 'spring sale',
  utmTerm: 'shoes',
  utmContent: 'héader',
  ruleId: 'de-only',
  variantId: 'b',
};

const PLACE = { country: 'DE', city: 'Köln', continent: 'EU', region: 'DE-NW', asn: 2 ** 32 - 1 };

function clickRow(sequence: bigint, changes: Parameters<typeof enrichedClick>[0] = {}, ts = TS): ClickRow {
  return {
    event: clickKey({
      ts,
      workspaceId: uuidToBytes(uuidv7()),
      linkId: randomBytes(16),
      visitorId: randomBytes(16),
    }),
    enriched: enrichedClick({
      agent: { device: 'desktop', browser: 'Chrome', os: 'Linux' },
      channel: 'twitter',
      trigger: 'qr',
      language: 'de',
      labels: LABELS,
      ad: { network: 'google', param: 'gclid', id: `Cj${sequence}` },
      ...changes,
      place: { ...PLACE, ...changes.place },
      referer: { host: 't.co', ...changes.referer },
    }),
    ordinal: 999,
    sequence,
  };
}

describe('blocks', () => {
  storesTest('carry every kind of value through to the table', async ({ stores }) => {
    const long = `https://example.com/${'ü'.repeat(1_000)}`;
    const rows = [
      clickRow(2n ** 64n - 1n, { referer: { text: long }, isBot: true }, TS + 1),
      clickRow(
        0n,
        { place: { city: '東京', country: '', asn: 0 }, trigger: 'link', labels: { ...LABELS, slug: '' } },
        TS + 2,
      ),
      clickRow(7n, { referer: { text: 'a'.repeat(128) } }, Date.UTC(2026, 10, 1) * 1000),
    ];
    await insertBlock(stores.clickhouse, { table: 'clicks', block: clickBlock(rows), token: 'kinds' });
    expect(await rowsOf(stores, 'SELECT * FROM clicks ORDER BY ts')).toEqual(
      [rows[2], rows[0], rows[1]].map((row) => ({
        workspace_id: bytesToUuid(row?.event.ids ?? new Uint8Array(), WORKSPACE_AT),
        ts: `${new Date((row?.event.ts ?? 0) / 1000).toISOString().slice(0, 19).replace('T', ' ')}.${String(
          (row?.event.ts ?? 0) % 1_000_000,
        ).padStart(6, '0')}999`,
        link_id: bytesToUuid(row?.event.ids ?? new Uint8Array(), LINK_AT),
        visitor_id: bytesToUuid(row?.event.ids ?? new Uint8Array(), VISITOR_AT),
        channel: 'twitter',
        country: row?.enriched.place.country,
        city: row?.enriched.place.city,
        device: 'desktop',
        browser: 'Chrome',
        os: 'Linux',
        referer: row?.enriched.referer.text,
        is_bot: row?.enriched.isBot,
        sequence: String(row?.sequence),
        domain: 'go.example.com',
        slug: row?.enriched.labels.slug,
        trigger: row?.enriched.trigger,
        utm_source: 'twitter',
        utm_medium: 'social',
        utm_campaign: 'spring sale',
        utm_term: 'shoes',
        utm_content: 'héader',
        ad_network: 'google',
        ad_click_param: 'gclid',
        ad_click_id: row?.enriched.ad.id,
        referer_host: 't.co',
        source: row?.enriched.referer.source,
        source_kind: row?.enriched.referer.sourceKind,
        continent: 'EU',
        region: 'DE-NW',
        language: 'de',
        rule_id: 'de-only',
        variant_id: 'b',
        asn: row?.enriched.place.asn,
        import_id: '00000000-0000-0000-0000-000000000000',
        extra_clicks: 0,
      })),
    );
  });

  storesTest('hold more different texts than one and two bytes can number', async ({ stores }) => {
    for (const size of [256, 257, 65_537]) {
      const rows = Array.from({ length: size }, (_, i) =>
        clickRow(BigInt(i), { place: { city: `${size}-${i}`, country: 'ZZ' } }, TS + i),
      );
      await insertBlock(stores.clickhouse, { table: 'clicks', block: clickBlock(rows), token: `d${size}` });
      const [counted] = await rowsOf(
        stores,
        `SELECT uniqExact(city) AS cities, countIf(city != concat('${size}-', toString(sequence))) AS wrong
         FROM clicks WHERE startsWith(city, '${size}-')`,
      );
      expect(counted).toEqual({ cities: String(size), wrong: '0' });
    }
  });

  storesTest('of identifies, orders and attributed shares fit their tables', async ({ stores }) => {
    const workspaceId = uuidToBytes(uuidv7());
    await insertBlock(stores.clickhouse, {
      table: 'identifies',
      block: identifyBlock([
        {
          event: {
            kind: 'identify',
            ts: TS,
            workspaceId,
            visitorId: null,
            email: 'a@example.com',
            externalUserId: null,
            source: 'server',
          },
          ordinal: 1,
          sequence: 5n,
        },
      ]),
      token: 'i',
    });
    const order = {
      kind: 'order',
      ts: TS,
      workspaceId,
      visitorId: null,
      orderId: 'o-1',
      amountMinor: -5,
      currency: 'jpy',
      email: null,
      externalUserId: 'u-1',
      source: 'server',
    } as const;
    await insertBlock(stores.clickhouse, {
      table: 'orders',
      block: orderBlock([{ ...order, version: 2 ** 53 - 1, ordinal: 1 }]),
      token: 'o',
    });
    const links = Array.from({ length: 3 }, () => uuidv7());
    const share = {
      workspaceId,
      orderId: 'o-1',
      version: 9,
      ts: TS,
      ordinal: 1,
      linkId: workspaceId,
      share: 0.25,
      lead: 0.5,
      channel: 'x',
      click: creditedClick({ country: 'DE', utm_term: 'shoes', trigger: 'qr', variant_id: 'A', asn: 3320 }),
      amountMinor: 2 ** 52,
    };
    const origin = (firstBioLinks: string[], firstOtherChannel: string) => ({
      firstChannel: firstBioLinks.length > 0 ? 'bio' : firstOtherChannel,
      firstBioLinks: firstBioLinks.map(uuidToBytes),
      firstOtherChannel,
    });
    await insertBlock(stores.clickhouse, {
      table: 'attributed_shares',
      block: attributedSharesBlock([
        { ...share, ...origin([], ''), part: 3, replaced: true },
        { ...share, ...origin(links.slice(0, 2), 'tiktok'), part: 4, replaced: false },
        { ...share, ...origin([], 'tiktok'), part: 5, replaced: false },
        { ...share, ...origin(links.slice(2), ''), part: 6, replaced: false },
      ]),
      token: 'c',
    });
    expect(
      await rowsOf(stores, 'SELECT visitor_id, email, external_user_id, sequence FROM identifies'),
    ).toEqual([
      {
        visitor_id: '00000000-0000-0000-0000-000000000000',
        email: 'a@example.com',
        external_user_id: '',
        sequence: '5',
      },
    ]);
    expect(
      await rowsOf(stores, 'SELECT order_id, version, external_user_id, amount_minor, currency FROM orders'),
    ).toEqual([
      {
        order_id: 'o-1',
        version: String(2 ** 53 - 1),
        external_user_id: 'u-1',
        amount_minor: '-5',
        currency: 'jpy',
      },
    ]);
    expect(
      await rowsOf(
        stores,
        'SELECT part, ts, share, amount_minor, replaced FROM attributed_shares WHERE part = 3',
      ),
    ).toEqual([
      {
        part: 3,
        ts: '2026-11-20 12:00:00.000000001',
        share: 0.25,
        amount_minor: String(2 ** 52),
        replaced: true,
      },
    ]);
    expect(
      await rowsOf(
        stores,
        'SELECT lead, country, utm_term, trigger, variant_id, asn FROM attributed_shares WHERE part = 4',
      ),
    ).toEqual([{ lead: 0.5, country: 'DE', utm_term: 'shoes', trigger: 'qr', variant_id: 'A', asn: 3320 }]);
    expect(
      await rowsOf(
        stores,
        'SELECT first_channel, first_bio_links, first_other_channel FROM attributed_shares ORDER BY part',
      ),
    ).toEqual([
      { first_channel: '', first_bio_links: [], first_other_channel: '' },
      { first_channel: 'bio', first_bio_links: links.slice(0, 2), first_other_channel: 'tiktok' },
      { first_channel: 'tiktok', first_bio_links: [], first_other_channel: 'tiktok' },
      { first_channel: 'bio', first_bio_links: links.slice(2), first_other_channel: '' },
    ]);
  });
});

describe('a block inserted twice', () => {
  storesTest('is stored once under the same token', async ({ stores }) => {
    const block = clickBlock([clickRow(1n, { place: { country: 'TW' } })]);
    for (const token of ['same', 'same', 'other']) {
      await insertBlock(stores.clickhouse, { table: 'clicks', block, token });
    }
    expect(await rowsOf(stores, `SELECT count() AS stored FROM clicks WHERE country = 'TW'`)).toEqual([
      { stored: '2' },
    ]);
  });

  storesTest('can be found by its sequences', async ({ stores }) => {
    const [minTs, maxTs] = [TS + 5_000_000, TS + 5_000_010];
    const rows = [clickRow(10n, {}, minTs), clickRow(11n, {}, minTs + 1), clickRow(30n, {}, maxTs)];
    await insertBlock(stores.clickhouse, { table: 'clicks', block: clickBlock(rows), token: 'found' });
    const found = await presentSequences(stores.clickhouse, {
      table: 'clicks',
      minTs,
      maxTs,
      minSequence: 0n,
      maxSequence: 29n,
    });
    expect(found).toEqual(new Set(['999/10', '999/11']));
  });

  storesTest('can be found because it is newer than the mark of its stream', async ({ stores }) => {
    const ts = TS + 9_000_000;
    // The last is of another deployment's log: `elsewhere.ts`.
    const rows = [
      clickRow(40n, {}, ts),
      clickRow(2n ** 63n - 1n, {}, ts + 1),
      clickRow(2n ** 63n, {}, ts + 2),
    ];
    await insertBlock(stores.clickhouse, { table: 'clicks', block: clickBlock(rows), token: 'above' });
    const mark = { ordinal: 999, highWater: 40n, visibleBefore: ts + 1 };
    const idle = { ordinal: 3, highWater: -1n, visibleBefore: ts };
    expect(await storedAbove(stores.clickhouse, [mark, idle])).toEqual(new Map([[999, 2n ** 63n - 1n]]));
    expect(await storedAbove(stores.clickhouse, [idle])).toEqual(new Map());
    expect(await storedAbove(stores.clickhouse, [{ ...mark, highWater: 2n ** 63n - 1n }])).toEqual(new Map());
  });
});
