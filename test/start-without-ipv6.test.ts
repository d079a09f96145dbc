import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from './support/service.ts';

test('HOST=:: on a machine without IPv6 starts and prints the keys of a first start', async ({ skip }) => {
  skip(process.platform !== 'linux' || process.getuid?.() !== 0, 'only root may make a network namespace');
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-without-ipv6-'));
  const off = 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6';
  const inside = `ip link set lo up && ${off} && exec "$@"`;
  const as = { file: 'unshare', args: ['--net', 'sh', '-c', inside, 'sh', process.execPath], identity: {} };
  const service = await startService({ dataDir: join(directory, 'data'), as, env: { HOST: '::' } });
  onTestFinished(async () => {
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  expect(service.demo?.secret_key).toMatch(/^lk_live_/);
  expect(await service.stop()).toBe(0);
});
