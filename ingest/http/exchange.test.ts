import type { us_listen_socket } from 'uWebSockets.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../core/tier/log.ts';
import { type KeptConnection, keepConnection } from '../../test/support/kept-connection.ts';
import { createExchanges, type Exchange, type Exchanges } from './exchange.ts';
import { listen, loadUws } from './uws.ts';

type Server = { url: string; exchanges: Exchanges; close(): void };

/** Lengths around the limit of lines that are passed as bytes. */
const LOCATIONS = [30, 1_256, 1_257, 1_258, 1_259, 2_000, 9_000].map((length) =>
  'https://example.com/?q='.padEnd(length, 'x'),
);

/** Responses sent within the handler, and later. */
const ANSWERS: Record<string, (exchanges: Exchanges, exchange: Exchange) => void> = {
  page: (exchanges, exchange) => exchanges.reply(exchange, '404 Not Found', [['X-Is', 'a page']], 'größer'),
  bytes: (exchanges, exchange) => exchanges.reply(exchange, '200 OK', [], Buffer.alloc(70_000, 'x')),
  empty: (exchanges, exchange) => exchanges.reply(exchange, '405 Method Not Allowed', []),
  // The low byte of U+010A is a line feed.
  letters: (exchanges, exchange) => exchanges.redirect(exchange, 'https://example.com/Ċx-new: line', []),
  moved: (exchanges, exchange) => exchanges.redirect(exchange, 'https://example.com/', ['a=b']),
  ...Object.fromEntries(
    LOCATIONS.map((location) => [
      `to-${location.length}`,
      (exchanges: Exchanges, exchange: Exchange) =>
        exchanges.redirect(exchange, location, [null, 'a=b', null]),
    ]),
  ),
};
const PATHS = Object.keys(ANSWERS).flatMap((name) => [`/now/${name}`, `/later/${name}`]);

async function start(): Promise<Server> {
  const uws = await loadUws();
  const app = uws.App();
  const exchanges = createExchanges(silentLogger());
  for (const [name, answer] of Object.entries(ANSWERS)) {
    for (const head of [false, true]) {
      const route = (head ? app.head : app.get).bind(app);
      route(`/now/${name}`, (res) => answer(exchanges, exchanges.open(res, head)));
      route(`/later/${name}`, (res) => {
        const exchange = exchanges.open(res, head);
        setImmediate(() => answer(exchanges, exchange));
      });
    }
  }
  const socket = (await listen(app, '127.0.0.1', 0, false)) as us_listen_socket;
  const port = uws.us_socket_local_port(socket as Parameters<typeof uws.us_socket_local_port>[0]);
  return { url: `http://127.0.0.1:${port}`, exchanges, close: () => app.close() };
}

let server: Server;
let ending: Server;
beforeAll(async () => {
  server = await start();
  ending = await start();
  ending.exchanges.endConnections();
});
afterAll(() => {
  server.close();
  ending.close();
});

async function withConnection<T>(url: string, use: (connection: KeptConnection) => Promise<T>): Promise<T> {
  const connection = await keepConnection(url);
  try {
    return await use(connection);
  } finally {
    connection.close();
  }
}

test('a redirect is complete at any length, after any other redirect', async () => {
  await withConnection(server.url, async ({ ask }) => {
    for (const location of [...LOCATIONS, ...LOCATIONS.toReversed()]) {
      const { headers } = await ask('GET', `/now/to-${location.length}`);
      expect(headers).toMatchObject({ location, 'set-cookie': 'a=b', 'content-length': '0' });
    }
  });
});

test('no character of an address becomes a header line', async () => {
  const { headers } = await withConnection(server.url, ({ ask }) => ask('GET', '/now/letters'));
  expect(headers.location).toMatch(/^https:\/\/example\.com\/[^\n]+x-new: line$/);
});

test.each(PATHS)('a HEAD of %s has the headers of its GET, and its connection stays open', async (path) => {
  await withConnection(server.url, async ({ ask }) => {
    const got = await ask('GET', path);
    expect(Number(got.headers['content-length'])).toBe(Buffer.byteLength(got.body));
    for (let n = 0; n < 2; n++) {
      expect(await ask('HEAD', path)).toEqual({ ...got, body: '' });
      expect(await ask('GET', path)).toEqual(got);
    }
  });
});

test.each(PATHS.filter((path) => path.startsWith('/now')))(
  'a HEAD of %s and a GET sent at once are both answered',
  async (path) => {
    await withConnection(server.url, async ({ ask, askAtOnce }) => {
      const got = await ask('GET', path);
      expect(
        await askAtOnce([
          ['HEAD', path],
          ['GET', path],
        ]),
      ).toEqual([{ ...got, body: '' }, got]);
    });
  },
);

test.each(PATHS)(
  'once connections end, a HEAD of %s says so, whole, and its connection ends',
  async (path) => {
    const { status, headers } = await withConnection(server.url, ({ ask }) => ask('GET', path));
    await withConnection(ending.url, async ({ ask, ended }) => {
      const head = await ask('HEAD', path);
      expect(head).toEqual({ status, headers: { ...headers, connection: 'close' }, body: '' });
      await ended;
    });
  },
);

test('an idle connection times out after a HEAD', async () => {
  const left = PATHS.map((path) =>
    withConnection(server.url, async ({ ask, ended }) => {
      await ask('HEAD', path);
      await ended;
    }),
  );
  await Promise.all(left);
});
