import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { follow, makeLink } from './support/first-click.ts';
import { hoplog } from './support/hoplog.ts';
import { type Service, startService } from './support/service.ts';

let directory: string;
let dataDir: string;
let service: Service | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-unreachable-'));
  dataDir = join(directory, 'data');
  service = undefined;
});

afterEach(async () => {
  if (service?.process.exitCode === null) await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** A proxy address where no server listens. */
const PROXY = {
  NODE_USE_ENV_PROXY: '1',
  HTTP_PROXY: 'http://127.0.0.1:9',
  http_proxy: 'http://127.0.0.1:9',
};

test('a proxy in the environment affects neither a first start nor hoplog status on this machine', async () => {
  service = await startService({ dataDir, env: PROXY });
  const link = await makeLink(service, service.demo?.secret_key ?? '', 'direct');
  expect((await follow(link)).status).toBe(302);
  const status = async () => (await hoplog(['status'], { DATA_DIR: dataDir, ...PROXY })).status;
  await expect.poll(status).toBe(0);
});

test('HOST=:: on a machine without IPv6 starts and prints the keys of a first start', async ({ skip }) => {
  skip(process.platform !== 'linux' || process.getuid?.() !== 0, 'only root may make a network namespace');
  const off = 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6';
  const inside = `ip link set lo up && ${off} && exec "$@"`;
  const as = { file: 'unshare', args: ['--net', 'sh', '-c', inside, 'sh', process.execPath], identity: {} };
  service = await startService({ dataDir, as, env: { HOST: '::' } });
  expect(service.demo?.secret_key).toMatch(/^lk_live_/);
  expect(await service.stop()).toBe(0);
});
