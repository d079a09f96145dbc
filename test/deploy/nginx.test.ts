import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkNginx, type LocalNginx, NO_NGINX, startNginx, writeNginxConfig } from './nginx.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-nginx-'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('nginx takes the configuration of the compose file, and not one with a fault', (context) => {
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

  test('no POST is sent twice, were it the only one that any of them has seen', async (context) => {
    context.skip(NO_NGINX !== false, String(NO_NGINX));
    for (let n = 0; n < 6; n++) {
      const { status, sentTo } = await ask('POST');
      expect([status, sentTo.length], nginx.log()).toEqual([502, 1]);
    }
  });

  test('a GET is sent to each of them before the visitor is told', async (context) => {
    context.skip(NO_NGINX !== false, String(NO_NGINX));
    for (let n = 0; n < 3; n++) {
      const { status, sentTo } = await ask('GET');
      expect(status).toBe(502);
      expect(new Set(sentTo)).toEqual(new Set(['GET ingest-0', 'GET ingest-1', 'GET ingest-2']));
    }
  });
});
