import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestStores, testStores } from '../test/support/stores.ts';
import { type ClickHouseClient, createClickHouse } from './client.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await testStores();
  await stores.createTables();
});
afterAll(() => stores.close());

const run = <Row>(sql: string, params: Record<string, unknown> = {}, client = stores.clickhouse) =>
  client.queries.rows<Row>({ sql, params, settings: {} });

describe('parameters arrive unchanged', () => {
  const text = `it's a "tab"\t, a line\r\nbreak, a \\ and \\n, {x}, 100 %, ü, 🙂 & more=x?`;

  test.each([
    ['a text', 'String', text, text],
    ['an empty text', 'String', '', ''],
    ['texts', 'Array(String)', [text, '', 'b'], [text, '', 'b']],
    ['no texts', 'Array(String)', [], []],
    ['a number', 'Float64', -1.5, -1.5],
    ['a number of 64 bits', 'Int64', -(2n ** 63n), '-9223372036854775808'],
    ['numbers of 64 bits', 'Array(UInt64)', [2n ** 64n - 1n, 0n], ['18446744073709551615', '0']],
    ['null', 'Nullable(String)', null, null],
    ['more than a URL holds', 'String', text.repeat(200), text.repeat(200)],
    ['many texts', 'Array(String)', Array(2_000).fill(text), Array(2_000).fill(text)],
  ])('%s', async (_, type, value, expected) => {
    const rows = await run(`SELECT {value:${type}} AS value, 'ü\n' AS other`, { value });
    expect(rows).toEqual([{ value: expected, other: 'ü\n' }]);
  });

  test('a parameter of an unknown type is refused before it is sent', async () => {
    await expect(run('SELECT 1', { value: undefined })).rejects.toThrow('a query parameter is undefined');
  });
});

describe('responses', () => {
  test('without rows are empty', async () => {
    expect(await run('SELECT 1 AS one WHERE false')).toEqual([]);
  });

  test('are formatted without threads of their own, which take longer to start', async () => {
    const rows = await run(`SELECT getSetting('output_format_parallel_formatting') AS in_threads`);
    expect(rows).toEqual([{ in_threads: false }]);
  });

  test('as lines are the texts of the rows, with their characters unchanged', async () => {
    const lines = (sql: string) => stores.clickhouse.queries.lines({ sql, params: {}, settings: {} });
    expect(await lines(`SELECT arrayJoin(['ü\n', '', '🙂']) AS text`)).toEqual([
      '{"text":"ü\\n"}',
      '{"text":""}',
      '{"text":"🙂"}',
    ]);
    expect(await lines('SELECT 1 AS one WHERE false')).toEqual([]);
    const long = await lines(`SELECT repeat('🙂', 100) AS text FROM numbers(20000)`);
    expect(new Set(long)).toEqual(new Set([`{"text":"${'🙂'.repeat(100)}"}`]));
    expect(long).toHaveLength(20_000);
  });

  test('have every row of a long result, in order', async () => {
    const rows = await run<{ n: string }>(
      'SELECT number AS n, repeat(toString(number), 20) AS text FROM numbers(300000)',
    );
    expect(rows).toHaveLength(300_000);
    expect(rows.every(({ n }, at) => n === String(at))).toBe(true);
  });

  test('with an error after many rows are an error, not a shorter result', async () => {
    const late = run(
      `SELECT number, throwIf(number = 2000000, 'too late') FROM numbers(3000000) SETTINGS max_block_size = 1000`,
    );
    await expect(late).rejects.toMatchObject({
      name: 'Error',
      code: '395',
      message: expect.stringContaining('too late'),
    });
  });

  test('with an error of ClickHouse have its code', async () => {
    await expect(run('SELECT * FROM nothing')).rejects.toMatchObject({ code: '60', type: 'UNKNOWN_TABLE' });
    const slow = stores.clickhouse.queries.rows({
      sql: 'SELECT sleepEachRow(0.1) FROM numbers(100) SETTINGS max_block_size = 1',
      params: {},
      settings: { max_execution_time: 1 },
    });
    await expect(slow).rejects.toMatchObject({ code: '159' });
  });
});

describe('connections', () => {
  test('one that was closed while idle does not fail the query', async () => {
    const gate = await openGate(stores.clickhouseUrl);
    const client = clientOf(gate.url);
    for (let turn = 0; turn < 5; turn++) {
      expect(await run('SELECT 1 AS one', {}, client)).toEqual([{ one: 1 }]);
      gate.cutWithTheNextBytes();
    }
    expect(gate.connections()).toBe(5);
    await client.close();
    await gate.close();
  });

  test('a server that is down is an error', async () => {
    const gate = await openGate(stores.clickhouseUrl);
    const client = clientOf(gate.url);
    expect(await run('SELECT 1 AS one', {}, client)).toHaveLength(1);
    await gate.close();
    await expect(run('SELECT 1', {}, client)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await client.close();
  });

  test('a server that is silent is an error after the time limit of the client', async () => {
    const silent = createServer();
    const port = await portOf(silent);
    const client = clientOf(`http://127.0.0.1:${port}`, 200);
    await expect(run('SELECT 1', {}, client)).rejects.toThrow('Timeout error');
    await client.close();
    silent.close();
  });
});

function clientOf(url: string, timeoutMs = 10_000): ClickHouseClient {
  return createClickHouse({ url, database: stores.clickhouseDatabase, timeoutMs });
}

function portOf(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
}

/** A proxy that can cut a connection at the moment when it is used again, as a server's idle limit does. */
async function openGate(target: string) {
  const open = new Set<Socket>();
  let isCutting = false;
  let count = 0;
  const { hostname, port, username, password } = new URL(target);
  const server = createServer((from) => {
    count += 1;
    isCutting = false;
    const to = connect(Number(port), hostname);
    open.add(from).add(to);
    from.on('data', (bytes) => {
      if (isCutting) from.resetAndDestroy();
      else to.write(bytes);
    });
    to.on('data', (bytes) => from.write(bytes));
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      one.on('error', () => undefined).on('close', () => other.destroy());
    }
  });
  const ownPort = await portOf(server);
  return {
    url: `http://${username}:${password}@127.0.0.1:${ownPort}`,
    connections: () => count,
    cutWithTheNextBytes() {
      isCutting = true;
    },
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
