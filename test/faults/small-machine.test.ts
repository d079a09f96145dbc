import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fillYear } from '../../bench/small-machine/history.ts';
import { ask, exportYear, REPORTS } from '../../bench/small-machine/reports.ts';
import { createClickHouse } from '../../clickhouse/client.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { storesOf } from '../kafka/deployment.ts';
import { canLimitMemory, makeMemoryGroup } from '../support/control-group.ts';
import { follow, makeLink, untilClicks } from '../support/first-click.ts';
import { refusedStart, type Service, startService } from '../support/service.ts';
import { familyOf } from './processes.ts';

/** `bench/small-machine.ts` does the same with millions of clicks. */
const CLICKS = 400_000;
const GROUP_BYTES = 2 ** 30;
const DAYS_OF_PART = 28;

test('a start with too little memory says so', async ({ skip }) => {
  skip(!canLimitMemory(), 'needs root and control groups of memory');
  const group = makeMemoryGroup(GROUP_BYTES / 2);
  const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-small-'));
  try {
    // Two settings with one port end the start before it takes the memory.
    const env = { API_PORT: '3999', INGEST_PORT: '3999' };
    const refused = await refusedStart({ dataDir, as: group.as, env });
    expect(refused).toEqual({ status: 1, log: expect.stringContaining('container has 512 MiB of memory') });
  } finally {
    group.remove();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('in 1 GiB of memory, a first click, a CSV export of a year, and all reports at once are whole, and the kernel ends nothing', async ({
  skip,
}) => {
  skip(!canLimitMemory(), 'needs root and control groups of memory');
  const group = makeMemoryGroup(GROUP_BYTES);
  // On a disk: files of a temporary directory in memory would count.
  const directory = mkdtempSync('/var/tmp/hoplog-small-');
  const dataDir = join(directory, 'data');
  const service = await startService({ dataDir, as: group.as });
  const { databaseOwnerUrl, clickhouseUrl } = storesOf(dataDir);
  const pool = createPool(databaseOwnerUrl);
  try {
    const key = service.demo?.secret_key ?? '';
    const link = await makeLink(service, key, 'autumn');
    const redirects = async () => (await follow(link)).status;
    await expect.poll(redirects).toBe(302);
    await untilClicks(service, key, link, 1);
    expect(await limitsOf(service, pool, clickhouseUrl)).toEqual({
      shared_buffers: '32MB',
      max_server_memory_usage: String(444 * 2 ** 20),
      max_threads: '2',
      limitedHeaps: 3,
    });
    const year = await fillYear({ clickhouseUrl, pool }, CLICKS, DAYS_OF_PART);
    const exported = await exportYear(service.api_url, year.key);
    expect(exported.rows).toBe(year.clicks);
    await Promise.all(REPORTS.map((report) => ask(service.api_url, year.key, report)));
    await expect.poll(redirects).toBe(302);
    await untilClicks(service, key, link, 2);
    expect([group.kills(), service.log().match(/will restart/g)]).toEqual([0, null]);
  } finally {
    await pool.end();
    await service.stop();
    group.remove();
    rmSync(directory, { recursive: true, force: true });
  }
});

/** Returns the limits that the databases run with, and how many processes of Node.js have a small heap. */
async function limitsOf(service: Service, pool: Pool, clickhouseUrl: string): Promise<object> {
  const clickhouse = createClickHouse({ url: clickhouseUrl, database: 'hoplog' });
  try {
    const { rows } = await pool.query("SELECT current_setting('shared_buffers') AS shared_buffers");
    const sql = `SELECT name, value FROM system.server_settings WHERE name = 'max_server_memory_usage'
      UNION ALL SELECT name, value FROM system.settings WHERE name = 'max_threads'`;
    const settings = await clickhouse.queries.rows<{ name: string; value: string }>({
      sql,
      params: {},
      settings: {},
    });
    const limited = familyOf(service).filter(({ pid }) =>
      commandOf(pid).includes('--max-old-space-size=256'),
    );
    return {
      ...rows[0],
      ...Object.fromEntries(settings.map(({ name, value }) => [name, value])),
      limitedHeaps: limited.length,
    };
  } finally {
    await clickhouse.close();
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
