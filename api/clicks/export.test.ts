import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { parse } from 'csv-parse/sync';
import { describe, expect } from 'vitest';
import { CLICK_NAMES, clickField } from '../../core/clicks/field-names.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { storeClicks } from '../../test/support/stored-events.ts';

const AT = 1_795_168_800_000_000_000n; // 2026-11-20T10:00:00Z
const WINDOW = 'from=2026-11-20T10:00:00Z&to=2026-11-20T11:00:00Z';
const REFERER = 'https://a.example/?q="quoted", <tag>\\ and ümlaut/';

let clicks: Record<string, unknown>[];

test.beforeEach(async ({ api, shop }) => {
  await storeClicks(
    api.stores,
    Array.from({ length: 40 }, (_, n) => ({
      workspaceId: shop.workspace.id,
      tsNanos: AT + BigInt(n) * 123_456_789n,
      referer: n === 3 ? REFERER : '',
      country: n === 4 ? '' : 'DE',
    })),
  );
  const page = await shop.get<{ clicks: Record<string, unknown>[] }>('/clicks?limit=500');
  clicks = page.body.clicks;
});

async function exported(
  api: TestApi,
  shop: TestWorkspace,
  query: string,
): Promise<{ body: Buffer; type: string; name: string }> {
  const response = await api.app.inject({
    url: `/api/v1/clicks/export?${query}`,
    headers: { authorization: `Bearer ${shop.secretKey}` },
  });
  expect(response.statusCode).toBe(200);
  return {
    body: response.rawPayload,
    type: String(response.headers['content-type']),
    name: String(response.headers['content-disposition']),
  };
}

describe('an export has the same clicks, columns and order as the stream', () => {
  test('as CSV, the default', async ({ api, shop }) => {
    const { body, type, name } = await exported(api, shop, WINDOW);
    const rows: Record<string, string>[] = parse(body, { columns: true });
    expect(rows).toEqual(
      clicks.map((click) => ({
        ...click,
        ...Object.fromEntries(
          ['is_bot', 'imported', 'asn', 'count'].map((name) => [
            name,
            String(click[name as keyof typeof click]),
          ]),
        ),
      })),
    );
    expect(Object.keys(rows[0] ?? {})).toEqual(Object.keys(clicks[0] ?? {}));
    expect(type).toMatch(/^text\/csv/);
    expect(name).toBe('attachment; filename="clicks.csv"');
  });

  test('as CSV with a byte order mark, where spreadsheets need one', async ({ api, shop }) => {
    const plain = await exported(api, shop, WINDOW);
    const marked = await exported(api, shop, `${WINDOW}&bom=1`);
    expect(marked.body).toEqual(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain.body]));
    const { status, body } = await shop.get(`/clicks/export?${WINDOW}&bom=1&format=ndjson`);
    expect([status, body.error.details?.[0]?.path]).toEqual([400, 'bom']);
  });

  test('as NDJSON', async ({ api, shop }) => {
    const { body, type } = await exported(api, shop, `${WINDOW}&format=ndjson`);
    const lines = body.toString('utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(clicks);
    expect(type).toMatch(/^application\/x-ndjson/);
  });

  test('as Parquet, with a timestamp of microseconds and a boolean', async ({ api, shop }) => {
    const { body } = await exported(api, shop, `${WINDOW}&format=parquet`);
    const { clickhouse } = api.stores;
    const types = { uuid: 'String', text: 'String', number: 'UInt32', boolean: 'Bool' };
    const made = CLICK_NAMES.map((name) => `${name} ${types[clickField(name).type]}`);
    await clickhouse.command({
      query: `CREATE TABLE read_back (id String, ts DateTime64(6, 'UTC'), ${made.join()}) ENGINE = Memory`,
    });
    await clickhouse.command({
      query: `CREATE TABLE schema_back (columns Array(Tuple(name String, path String, max_definition_level UInt64,
        max_repetition_level UInt64, physical_type String, logical_type String, compression String,
        total_uncompressed_size UInt64, total_compressed_size UInt64, space_saved String, encodings Array(String))))
        ENGINE = Memory`,
    });
    for (const into of ['read_back FORMAT Parquet', 'schema_back FORMAT ParquetMetadata']) {
      const values = Readable.from([body], { objectMode: false });
      const { stream } = await clickhouse.exec({ query: `INSERT INTO ${into}`, values });
      stream.resume();
    }
    const schema = await clickhouse.query({
      query: 'SELECT columns FROM schema_back',
      format: 'JSONEachRow',
    });
    const [{ columns = [] } = {}] = await schema.json<{
      columns: { name: string; logical_type: string }[];
    }>();
    // Older versions of Spark and Athena refuse unsigned integers.
    expect(columns.find(({ name }) => name === 'asn')).toMatchObject({ physical_type: 'INT64' });
    expect(columns.filter(({ logical_type }) => /uint|isSigned=false/i.test(logical_type))).toEqual([]);
    const result = await clickhouse.query({
      query: `SELECT * FROM read_back ORDER BY ts DESC SETTINGS date_time_output_format = 'iso'`,
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual(clicks);
  });
});

test.for(['csv', 'ndjson'])(
  'an export of several months as %s is in one order, and has one header',
  async (format, { api, shop }) => {
    const linkId = uuidv7();
    const months = [8, 9, 9, 11].map((month, n) => BigInt(Date.UTC(2026, month - 1, 3 * n + 1)) * 1_000_000n);
    await storeClicks(
      api.stores,
      months.map((tsNanos) => ({ workspaceId: shop.workspace.id, linkId, tsNanos })),
    );
    // The bounds are inside of months.
    const { body } = await exported(
      api,
      shop,
      `from=2026-08-01T00:00:00Z&to=2026-11-10T00:00:01Z&link_id=${linkId}&format=${format}`,
    );
    const text = body.toString('utf8').trimEnd();
    const rows: { ts: string }[] =
      format === 'csv' ? parse(text, { columns: true }) : text.split('\n').map((line) => JSON.parse(line));
    expect(rows.map(({ ts }) => ts.slice(0, 10))).toEqual([
      '2026-11-10',
      '2026-09-07',
      '2026-09-04',
      '2026-08-01',
    ]);
  },
);

describe('what a spreadsheet would run as a formula', () => {
  const RUN = ['=HYPERLINK("https://evil.example/","Pay")', '+1+cmd|x', '-2+3', '@SUM(A1)', '\t=1', '\r=1'];
  const NOT_RUN = ['https://a.example/?a=-1', "'=1", ' =1', '', 'a\n=1'];

  async function referers(api: TestApi, shop: TestWorkspace, format: 'csv' | 'ndjson'): Promise<string[]> {
    const linkId = uuidv7();
    const own = { workspaceId: shop.workspace.id, linkId };
    const texts = [...RUN, ...NOT_RUN];
    await storeClicks(
      api.stores,
      texts.map((referer, n) => ({ ...own, tsNanos: AT + BigInt(n) * 1_000n, referer })),
    );
    const { body } = await exported(api, shop, `${WINDOW}&link_id=${linkId}&format=${format}`);
    const text = body.toString('utf8');
    const rows: { referer: string }[] =
      format === 'csv'
        ? parse(text, { columns: true })
        : text
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line));
    return rows.map((row) => row.referer).reverse(); // newest first
  }

  test('has an apostrophe in front in CSV, and nothing else has', async ({ api, shop }) => {
    expect(await referers(api, shop, 'csv')).toEqual([...RUN.map((text) => `'${text}`), ...NOT_RUN]);
  });

  test('is as it was sent in NDJSON', async ({ api, shop }) => {
    expect(await referers(api, shop, 'ndjson')).toEqual([...RUN, ...NOT_RUN]);
  });

  test('is looked for in every text that others have written', async ({ api, shop }) => {
    const linkId = uuidv7();
    const given = { city: '=city', browser: '-browser', os: '@os', referer: '+referer' };
    const columns = { slug: '-a', utm_campaign: '=1+1', utm_term: '@b', referer_host: '-c' };
    await storeClicks(api.stores, [
      { workspaceId: shop.workspace.id, linkId, tsNanos: AT, ...given, columns },
    ]);
    const row = async (format: string) =>
      (await exported(api, shop, `${WINDOW}&link_id=${linkId}&format=${format}`)).body
        .toString('utf8')
        .trimEnd();
    expect(parse(await row('csv'), { columns: true })).toMatchObject([
      { city: "'=city", browser: "'-browser", os: "'@os", referer: "'+referer", channel: 'facebook' },
    ]);
    expect(parse(await row('csv'), { columns: true })).toMatchObject([
      { slug: "'-a", utm_campaign: "'=1+1", utm_term: "'@b", referer_host: "'-c" },
    ]);
    expect(JSON.parse(await row('ndjson'))).toMatchObject({ ...given, ...columns });
  });
});

test('an export takes a window, links and bots as the stream does', async ({ api, shop }) => {
  const linkId = uuidv7();
  const own = { workspaceId: shop.workspace.id, linkId };
  await storeClicks(api.stores, [
    { ...own, tsNanos: AT - 1n },
    { ...own, tsNanos: AT },
    { ...own, tsNanos: AT + 1_000n, isBot: true },
    { ...own, tsNanos: AT + 3_600_000_000_000n },
  ]);
  const count = async (query: string) => {
    const { body } = await exported(api, shop, `format=ndjson&${query}`);
    return body.toString('utf8').split('\n').length - 1;
  };
  expect(await count(`${WINDOW}&link_id=${linkId}`)).toBe(1);
  expect(await count(`${WINDOW}&link_ids=${linkId}&bots=include`)).toBe(2);
  expect(await count(`${WINDOW}&link_ids=${uuidv7()}`)).toBe(0);
  const many = [...Array.from({ length: 499 }, () => uuidv7()), linkId].join(',');
  expect(await count(`${WINDOW}&link_ids=${many}`)).toBe(1);
  const header = (await exported(api, shop, `${WINDOW}&link_ids=${uuidv7()}`)).body.toString('utf8');
  expect(header.trim().split(',')).toHaveLength(CLICK_NAMES.length + 2);
});

test('nothing before the months that the workspace keeps is exported or listed, removed already or not', async ({
  api,
  shop,
}) => {
  const linkId = uuidv7();
  const now = new Date();
  const begin = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1);
  const at = (ms: number) => ({
    workspaceId: shop.workspace.id,
    linkId,
    tsNanos: BigInt(ms) * 1_000_000n,
  });
  await storeClicks(api.stores, [at(begin - 1), at(begin)]);
  const path = `link_id=${linkId}`;
  const seen = async () => {
    const file = await exported(api, shop, `format=ndjson&days=90&${path}`);
    const page = await shop.get<{ clicks: object[] }>(`/clicks?${path}`);
    const poll = await shop.get<{ clicks: object[] }>(`/clicks?${path}&since=2026-01-01`);
    return [
      file.body.toString('utf8').split('\n').length - 1,
      page.body.clicks.length,
      poll.body.clicks.length,
    ];
  };
  expect(await seen()).toEqual([2, 2, 2]);
  await shop.patch('/workspace', { retention_months: 1 });
  expect(await seen()).toEqual([1, 1, 1]);
});

test.for([
  ['format=xlsx', 'format'],
  ['days=0', 'days'],
  ['from=2026-11-21&to=2026-11-20', 'from'],
  ['link_ids=x', 'link_ids'],
])('%s is refused', async ([query, path], { shop }) => {
  const answer = await shop.get(`/clicks/export?${query}`);
  expect(answer.status).toBe(400);
  expect(answer.body.error.details?.[0]?.path).toBe(path);
});

test("another workspace's clicks are in no export", async ({ api }) => {
  const other = await api.addWorkspace();
  const answer = await other.get<string>(`/clicks/export?${WINDOW}&format=ndjson`);
  expect([answer.status, answer.text]).toEqual([200, '']);
});

describe('with many clicks', () => {
  test.beforeEach(async ({ api, shop }) => {
    await api.stores.clickhouse.command({
      query: `INSERT INTO clicks (workspace_id, ts, link_id, visitor_id, referer)
        SELECT {workspace:UUID}, fromUnixTimestamp64Nano(toInt64({at:UInt64} + number * 1000), 'UTC'),
          generateUUIDv4(1), generateUUIDv4(2), repeat('x', 500) FROM numbers(400000)`,
      query_params: { workspace: shop.workspace.id, at: AT },
    });
  });

  const listening = async (api: TestApi) => {
    const address = api.app.server.address();
    if (address !== null && typeof address === 'object') return `http://127.0.0.1:${address.port}`;
    return api.app.listen({ host: '127.0.0.1', port: 0 });
  };

  /** Starts an export and resolves with its answer as soon as its head is there, without reading on. */
  function begin(shop: TestWorkspace, origin: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const call = request(
        `${origin}/api/v1/clicks/export?${WINDOW}&format=ndjson`,
        { headers: { authorization: `Bearer ${shop.secretKey}` } },
        resolve,
      );
      call.on('error', reject);
      call.end();
    });
  }

  /** Exports that ClickHouse works on in this test's database. */
  async function running(api: TestApi): Promise<number> {
    const result = await api.stores.clickhouse.query({
      query: `SELECT count() AS n FROM system.processes
        WHERE current_database = {database:String} AND query LIKE '%ORDER BY ts DESC FORMAT JSONEachRow%'
          AND query NOT LIKE '%system.processes%'`,
      query_params: { database: api.stores.clickhouseDatabase },
      format: 'JSONEachRow',
    });
    const [row] = await result.json<{ n: string }>();
    return Number(row?.n);
  }

  test('four exports run at once, a fifth is a 429, and callers who hang up end theirs', async ({
    api,
    shop,
  }) => {
    const origin = await listening(api);
    const answers = await Promise.all(Array.from({ length: 4 }, () => begin(shop, origin)));
    expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200, 200, 200]);
    expect(await running(api)).toBe(4); // no client reads, so they wait
    const fifth = await shop.get(`/clicks/export?${WINDOW}`);
    expect([fifth.status, fifth.body.error.code]).toEqual([429, 'too_many_requests']);
    expect(fifth.headers['retry-after']).toBe('5');
    const other = await api.addWorkspace();
    expect((await other.get(`/clicks/export?${WINDOW}`)).status).toBe(200);
    for (const answer of answers) answer.destroy();
    await expect.poll(() => running(api)).toBe(0);
    await expect
      .poll(async () => (await shop.get(`/clicks/export?${WINDOW}&link_ids=${uuidv7()}`)).status)
      .toBe(200);
  });

  test('callers who hang up before their key was looked up hold no place', async ({ api, shop }) => {
    const { port } = new URL(await listening(api));
    const { pool } = api.stores;
    const asked = Promise.withResolvers<void>();
    const { query } = pool;
    let left = 8;
    Object.assign(pool, {
      query: async (...given: unknown[]) => {
        if (--left === 0) asked.resolve();
        await gone;
        return Reflect.apply(query, pool, given);
      },
    });
    const callers = Array.from({ length: 8 }, () => {
      const caller = connect(Number(port), '127.0.0.1');
      caller.write(
        `GET /api/v1/clicks/export?${WINDOW} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${shop.secretKey}\r\n\r\n`,
      );
      return caller;
    });
    const gone = asked.promise.then(async () => {
      for (const caller of callers) caller.resetAndDestroy();
      await expect.poll(connections).toBe(0);
    });
    const connections = () =>
      new Promise<number>((resolve, reject) =>
        api.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      );
    await gone;
    Object.assign(pool, { query });
    const mine = async () => (await shop.get(`/clicks/export?${WINDOW}&link_ids=${uuidv7()}`)).status;
    for (let time = 0; time < 4; time++) expect(await mine()).toBe(200);
  });
});
