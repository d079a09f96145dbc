import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Command } from '../cli/embedded/unprivileged.ts';
import { createClickHouse } from '../clickhouse/client.ts';
import { storesOf } from './kafka/deployment.ts';
import { follow, makeLink, untilClicks } from './support/first-click.ts';
import { refusedStart, startService } from './support/service.ts';

let directory: string;
let dataDir: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-address-space-'));
  dataDir = join(directory, 'data');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Returns the command that starts a program with a limit of `ulimit -v`. */
const withAddressSpace = (kib: number): Command => ({
  file: 'sh',
  args: ['-c', `ulimit -v ${kib} && exec "$@"`, 'sh', process.execPath],
  identity: {},
});

test('an address space that is too small ends the start with one line', async () => {
  const limited = await refusedStart({ dataDir, as: withAddressSpace(5_859_374) });
  expect(limited).toEqual({ status: 1, log: expect.stringMatching(/^hoplog: [^\n]*\n$/) });
  expect(limited.log).toContain(
    'the address space is limited to 5999998976 bytes, at least 6000000000 are needed',
  );
});

test('with the least address space clicks are stored, and a query that needs more fails alone', async () => {
  const service = await startService({ dataDir, as: withAddressSpace(5_859_375) });
  try {
    const large = createClickHouse({ url: storesOf(dataDir).clickhouseUrl, database: 'default' });
    const query = 'SELECT length(groupArray(number)) FROM numbers(200000000)';
    await expect(large.query({ query })).rejects.toThrow('memory limit exceeded');
    await large.close();
    const key = service.demo?.secret_key ?? '';
    const link = await makeLink(service, key, 'narrow');
    expect((await follow(link)).status).toBe(302);
    expect(await untilClicks(service, key, link, 1)).toHaveLength(1);
    expect(service.log()).not.toContain('will restart');
  } finally {
    await service.stop();
  }
});
