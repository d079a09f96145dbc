import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWeb } from '../../web/build.ts';
import { endBehind } from './bound-process.ts';
import { type Ready, startService } from './service.ts';

const SETTINGS = {
  WEBHOOK_ALLOW_PRIVATE: 'true',
  FETCH_DESTINATIONS: 'all',
  /** Tests put a proxy in front of it, or simulate one. */
  TRUST_PROXY: '127.0.0.1',
  /** No test may call Stripe itself. */
  STRIPE_API_BASE: 'http://127.0.0.1:1',
};

/** The response of the offer. */
export type OfferedService = Ready & { pid: number; dataDir: string };

/**
 * Offers one service to all test files of a run. It starts at the first request, on an address of this process, and
 * ends with the run, even a killed one.
 *
 * @returns its address, which responds with an {@link OfferedService} once the service is ready, and 500 if it failed
 * to start
 */
export async function offerService(): Promise<{ url: string; close(): Promise<void> }> {
  let started: ReturnType<typeof start> | null = null;
  const server = createServer(async (_, response) => {
    started ??= start();
    try {
      response.end(JSON.stringify((await started).offered));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      const service = await started?.catch(() => null);
      await service?.end();
    },
  };
}

async function start(): Promise<{ offered: OfferedService; end(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-shared-'));
  const dataDir = join(directory, 'data');
  await buildWeb();
  const { process, log: _, stop, kill: __, ...ready } = await startService({ dataDir, env: SETTINGS });
  const pid = process.pid ?? 0;
  const release = endBehind(pid, directory);
  return {
    offered: { ...ready, pid, dataDir },
    async end() {
      await stop();
      release();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
