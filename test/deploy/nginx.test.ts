import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeWorkspace, startTestIngest, type TestIngest } from '../support/ingest.ts';
import { keepConnection } from '../support/kept-connection.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { checkNginx, type LocalNginx, NO_NGINX, startNginx, writeNginxConfig } from './nginx.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-nginx-'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('nginx accepts the configuration of the compose file, and rejects one with a fault', (context) => {
  context.skip(NO_NGINX !== false, String(NO_NGINX));
  checkNginx(writeNginxConfig(directory, () => '127.0.0.1'));
  expect(() => checkNginx(writeNginxConfig(directory, () => 'nobody:x'))).toThrow(/invalid port|not found/);
});

describe('in front of processes that die at each request', () => {
  const net = `127.${1 + (process.pid % 250)}.7`;
  const hosts = ['nginx', 'ingest-0', 'ingest-1', 'ingest-2', 'api-0', 'api-1'];
  const host = (service: string) => `${net}.${hosts.indexOf(service) + 1}`;
  const seen: string[] = [];
  const servers: Server[] = [];
  let nginx: LocalNginx;

  beforeAll(async () => {
    if (NO_NGINX !== false) return;
    for (const name of hosts.slice(1, 4)) {
      const server = createServer((request) => {
        seen.push(`${request.method} ${name}`);
        request.socket.destroy();
      });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(8080, host(name), resolve));
    }
    nginx = await startNginx(writeNginxConfig(directory, host), host);
  });

  afterAll(async () => {
    await nginx?.stop();
    for (const server of servers) server.close();
  });

  async function ask(method: string): Promise<{ status: number; sentTo: string[] }> {
    seen.length = 0;
    const { status } = await fetch(`http://${host('nginx')}:8080/x`, { method });
    return { status, sentTo: [...seen].sort() };
  }

  test('no POST is sent twice, even if only one process receives any', async (context) => {
    context.skip(NO_NGINX !== false, String(NO_NGINX));
    for (let n = 0; n < 6; n++) {
      const { status, sentTo } = await ask('POST');
      expect([status, sentTo.length], nginx.log()).toEqual([502, 1]);
    }
  });

  test('a GET is sent to each of them before the visitor gets an error', async (context) => {
    context.skip(NO_NGINX !== false, String(NO_NGINX));
    for (let n = 0; n < 3; n++) {
      const { status, sentTo } = await ask('GET');
      expect(status).toBe(502);
      expect(new Set(sentTo)).toEqual(new Set(['GET ingest-0', 'GET ingest-1', 'GET ingest-2']));
    }
  });
});

describe('in front of ingest', () => {
  const net = `127.${1 + (process.pid % 250)}.8`;
  const host = (service: string) => `${net}.${service === 'nginx' ? 1 : 2}`;
  let stores: TestStores;
  let ingest: TestIngest;
  let key: string;
  let nginx: LocalNginx;

  beforeAll(async () => {
    if (NO_NGINX !== false) return;
    stores = await testStores();
    key = (await makeWorkspace(stores.pool)).publishable.token;
    const env = { HOST: host('ingest-0'), INGEST_PORT: '8080' };
    ingest = await startTestIngest({ ...stores, env });
    nginx = await startNginx(writeNginxConfig(directory, host), host);
  });

  afterAll(async () => {
    await nginx?.stop();
    await ingest?.close();
    await ingest?.remove();
    await stores?.close();
  });

  test('an order on a connection that carried a HEAD is accepted', async (context) => {
    context.skip(NO_NGINX !== false, String(NO_NGINX));
    // One visitor's connection, so that one worker of nginx has the connection to ingest.
    const { ask, close } = await keepConnection(`http://${host('nginx')}:8080`);
    for (const path of ['/unknown', '/robots.txt', '/pixel.js', '/health/live', '/collect']) {
      expect((await ask('HEAD', path)).status).toBeLessThan(500);
      const order = { key, type: 'order', order_id: `after ${path}`, amount: 5, currency: 'eur' };
      expect((await ask('POST', '/collect', JSON.stringify(order))).status, nginx.log()).toBe(202);
    }
    close();
  });
});
