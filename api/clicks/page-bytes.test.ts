import fastJson from 'fast-json-stringify';
import { expect } from 'vitest';
import { runQuery } from '../../clickhouse/queries/run-query.ts';
import { SHOWN_COLUMNS, type ShownClickRow, toShownClick } from '../../clickhouse/queries/shown-clicks.ts';
import { clickRecord } from '../../core/clicks/click-record.ts';
import { formatInstant } from '../../core/time/timestamps.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { ClicksPage } from './schemas.ts';

const AT = 1_795_168_800_123_456_007n; // 2026-11-20T10:00:00.123456007Z

/** What a caller may send as a referer, as the hex of its bytes; the names are for a failure's message. */
const REFERERS = {
  empty: '',
  plain: hex('https://shop.example/a/b?c=d&e=%20#f'),
  quotes: hex(`"a" 'b' \\"c\\"`),
  'looks like the end of a row': hex('","is_bot":true}\n{"nanos":"1","link_id":"'),
  backslashes: hex('\\ \\\\ \\n \\u0041 \\'),
  ...Object.fromEntries(Array.from({ length: 33 }, (_, code) => [`control ${code}`, hex(code, 0x61, code)])),
  delete: hex(0x7f),
  'lines and paragraphs': hex('a\u2028b\u2029c\u0085'),
  umlauts: hex('ü é 漢字 🙂 \u{10ffff}'),
  'byte order mark': hex('\ufeffa\ufeff'),
  'a slash for HTML': hex('</script>'),
  'no UTF-8': hex(0x61, 0xff, 0xfe, 0x62),
  'half a character': hex(0xf0, 0x9f, 0x99),
  'half a surrogate pair': hex(0x61, 0xed, 0xa0, 0x80, 0x62),
  'too long a form of a quote': hex(0xc0, 0xa2),
  'a quote behind half a character': hex(0xe2, 0x80, 0x22, 0x5c, 0x22),
};

function hex(...of: (string | number)[]): string {
  return Buffer.concat(
    of.map((one) => (typeof one === 'string' ? Buffer.from(one) : Buffer.of(one))),
  ).toString('hex');
}

test('a page is to the byte what its schema writes of its clicks, whatever they hold', async ({
  api,
  shop,
}) => {
  const rows = Object.values(REFERERS).map(
    (
      referer,
      n,
    ) => `({workspace:UUID}, fromUnixTimestamp64Nano(toInt64(${AT + BigInt(n) * 77_000_001n}), 'UTC'),
      generateUUIDv4(${n}), generateUUIDv4(${n + 1_000}), unhex('${n % 2 ? referer : ''}'), 'DE',
      unhex('${n % 3 ? referer : ''}'), 'mobile', unhex('${n % 5 ? referer : ''}'), 'iOS', unhex('${referer}'), ${n % 4 === 0})`,
  );
  await api.stores.clickhouse.command({
    query: `INSERT INTO clicks (workspace_id, ts, link_id, visitor_id, channel, country, city, device, browser, os,
      referer, is_bot) VALUES ${rows.join(', ')}`,
    query_params: { workspace: shop.workspace.id },
  });
  const stored = await runQuery<ShownClickRow>(api.stores.clickhouse, {
    sql: `SELECT ${SHOWN_COLUMNS} FROM clicks WHERE workspace_id = {workspace:UUID} ORDER BY ts DESC`,
    params: { workspace: shop.workspace.id },
    seconds: 10,
  });
  expect(stored).toHaveLength(rows.length);
  const write = fastJson(ClicksPage as unknown as fastJson.Schema);
  const page = (from: number, to: number) => {
    const clicks = stored.map(toShownClick).slice(from, to);
    const last = clicks.at(-1);
    return write({
      clicks: clicks.map(clickRecord),
      next_cursor: to < stored.length && last ? formatInstant(last.tsNanos, 9) : null,
      watermark: '1970-01-01T00:00:00.000000Z',
    });
  };
  const all = await shop.get('/clicks?bots=include&limit=500');
  expect(all.text).toBe(page(0, 500));
  expect(all.headers['content-type']).toBe('application/json; charset=utf-8');
  expect((await shop.get('/clicks?bots=include&limit=7')).text).toBe(page(0, 7));
  const cursor = formatInstant(stored.map(toShownClick)[6]?.tsNanos ?? 0n, 9);
  expect((await shop.get(`/clicks?bots=include&limit=1&before=${cursor}`)).text).toBe(page(7, 8));
  expect((await shop.get('/clicks?before=2001-01-01')).text).toBe(
    write({ ...JSON.parse(page(0, 0)), next_cursor: null }),
  );
});
