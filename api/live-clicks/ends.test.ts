import { connect as openSocket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import type { QueryConnection } from '../../clickhouse/query-connection.ts';
import { type TestApi, testApi } from '../../test/support/api.ts';
import { openEventStream, originOf } from '../../test/support/event-stream.ts';
import { type ConsoleBrowser, signedInAs } from '../../test/support/members.ts';

let api: TestApi | undefined;

afterEach(async () => {
  vi.useRealTimers();
  await api?.close();
});

test('connections end with the server at once, also idle ones', async () => {
  api = await testApi();
  const shop = await api.addWorkspace();
  const url = `${await originOf(api.app)}/api/v1/clicks/live`;
  const authorization = `Bearer ${shop.secretKey}`;
  const live = await Promise.all([
    openEventStream(url, { authorization }),
    openEventStream(url, { authorization }),
  ]);
  expect(live.map(({ status }) => status)).toEqual([200, 200]);
  const closed = api.app.close();
  await Promise.all(live.map(({ ended }) => ended));
  await closed;
  for (const { rest } of live) expect(rest()).toBe('');
});

test('a client that closes its side behind the request gets the first block, then an orderly end', async () => {
  api = await testApi();
  const shop = await api.addWorkspace();
  const { hostname, port } = new URL(await originOf(api.app));
  const socket = openSocket({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.end(
    `GET /api/v1/clicks/live HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${shop.secretKey}\r\n\r\n`,
  );
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toMatch(/\nretry: 1000\nid: \S+\n\n/);
  expect(answer).toMatch(/\r\n0\r\n\r\n$/);
});

test('it is 503 while ClickHouse is down, and a connection ends when it stays down', async () => {
  let isAway = false;
  let asked = 0;
  const isGone = () => {
    asked += 1;
    return isAway;
  };
  const anotherRead = (before = asked) => expect.poll(() => asked).toBeGreaterThan(before);
  api = await testApi(({ clickhouse }) => ({
    clickhouse: Object.assign(clickhouse, { queries: awayWhen(clickhouse.queries, isGone) }),
  }));
  const shop = await api.addWorkspace();
  const url = `${await originOf(api.app)}/api/v1/clicks/live`;
  const authorization = `Bearer ${shop.secretKey}`;
  const live = await openEventStream(url, { authorization });
  isAway = true;
  // After a short outage, reads succeed again.
  await anotherRead();
  isAway = false;
  await anotherRead();
  isAway = true;
  await live.ended;
  const refused = await shop.get('/clicks/live');
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
});

test("a session's connection ends with the heartbeat after the session was ended or its member removed", async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  api = await testApi();
  const shop = await api.addWorkspace();
  const url = `${await originOf(api.app)}/api/v1/clicks/live`;
  const [removed, signedOut, staying] = await Promise.all([
    signedInAs(api, shop, 'analyst'),
    signedInAs(api, shop, 'analyst'),
    signedInAs(api, shop, 'analyst'),
  ]);
  const connect = ({ token }: ConsoleBrowser) => openEventStream(url, { cookie: `hoplog_session=${token}` });
  const live = await Promise.all([connect(removed), connect(signedOut), connect(staying)]);
  expect(live.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await shop.delete(`/members/${removed.id}`)).status).toBe(200);
  expect((await signedOut.call('DELETE', '/session')).status).toBe(200);
  vi.advanceTimersByTime(15_000);
  await Promise.all([live[0].ended, live[1].ended]);
  vi.advanceTimersByTime(15_000);
  await expect.poll(() => live[2].comments).toEqual(['heartbeat', 'heartbeat']);
  live[2].close();
});

test("a key's connection ends with the heartbeat after the key was revoked, and all of a workspace whose plan has lapsed", async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  api = await testApi();
  const [shop, other] = [await api.addWorkspace(), await api.addWorkspace()];
  const url = `${await originOf(api.app)}/api/v1/clicks/live`;
  const connect = (key: string) => openEventStream(url, { authorization: `Bearer ${key}` });
  const second = (await shop.post<{ id: string; token: string }>('/keys', { kind: 'secret', label: 'x' }))
    .body;
  const [revoked, staying, lapsed] = await Promise.all([
    connect(second.token),
    connect(shop.secretKey),
    connect(other.secretKey),
  ]);
  expect([revoked, staying, lapsed].map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await shop.delete(`/keys/${second.id}`)).status).toBe(200);
  await api.stores.pool.query(`UPDATE workspaces SET plan = 'free' WHERE id = $1`, [other.workspace.id]);
  vi.advanceTimersByTime(15_000);
  await Promise.all([revoked.ended, lapsed.ended]);
  vi.advanceTimersByTime(15_000);
  await expect.poll(() => staying.comments).toEqual(['heartbeat', 'heartbeat']);
  staying.close();
});

function awayWhen(queries: QueryConnection, isAway: () => boolean): QueryConnection {
  return {
    ...queries,
    rows: (asked) =>
      isAway()
        ? Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
        : queries.rows(asked),
  };
}
