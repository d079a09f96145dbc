import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fillYear } from '../../bench/small-machine/history.ts';
import { ask, exportYear, REPORTS } from '../../bench/small-machine/reports.ts';
import { createPool } from '../../sql/database/pool.ts';
import { storesOf } from '../kafka/deployment.ts';
import { canLimitMemory, makeMemoryGroup } from '../support/control-group.ts';
import { follow, makeLink, untilClicks } from '../support/first-click.ts';
import { startService } from '../support/service.ts';

/** `bench/small-machine.ts` does the same with millions of clicks. */
const CLICKS = 400_000;
const GROUP_BYTES = 2 ** 30;
const DAYS_OF_PART = 28;

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
