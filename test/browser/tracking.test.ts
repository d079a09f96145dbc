import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { expect, test } from 'vitest';
import { clickBlock } from '../../clickhouse/inserts/clicks.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import { clickKey } from '../../core/events/click-reader.ts';
import { uuidToBytes } from '../../core/ids.ts';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import { makeLink, makeWorkspace, startTestIngest, type TestIngest } from '../support/ingest.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { visit } from '../support/visitors.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { type Shop, startShop } from './shop.ts';

/** A visitor id that another workspace of the deployment has set before. */
const COOKIE = '9c5f8d1e-3b0a-4c6d-8e2f-112233445566';

let stores: TestStores;
let ingest: TestIngest;
let shop: Shop;
let browser: Browser;

inChromium(async () => {
  stores = await testStores();
  ingest = await startTestIngest(stores);
  shop = await startShop();
  browser = await sharedChromium();
  return async () => {
    shop.close();
    await ingest.close();
    await ingest.remove();
    await stores.close();
  };
});

test.each(['cookieless', 'none'] as const)(
  'with tracking %s a browser keeps no cookie, the shop gets no _vid, and neither journal nor ClickHouse holds an identifier',
  async (tracking) => {
    const { id } = await makeWorkspace(stores.pool);
    await updateWorkspace(stores.pool, id, { tracking });
    const { slug } = await makeLink(stores.pool, id, `http://127.0.0.1:${shop.port}/page`, {
      channel: 'facebook',
    });
    const url = `${ingest.url}/${slug}`;
    await expect.poll(async () => (await visit(url)).cookies).toEqual([]);

    const context = await browser.newContext();
    await context.addCookies([{ name: '_vid', value: COOKIE, url: ingest.url, httpOnly: true }]);
    const page = await context.newPage();
    for (let visits = 0; visits < 2; visits++) {
      await page.goto(url);
      expect(await page.title()).toBe('Shop');
      expect(new URL(page.url()).search).toBe('');
      expect(await page.evaluate('document.cookie')).not.toContain('_vid=1');
    }
    // The cookie from before stays, for workspaces that use it; no cookie was added.
    expect((await context.cookies()).map(({ value }) => value)).toEqual([COOKIE]);
    await context.close();

    const clicks = (await ingest.events()).flatMap((event) => (event.kind === 'click' ? [event] : []));
    const { enrichClick } = createEnricher({ geo: emptyGeo() });
    const rows = clicks.map((event, n) => ({
      event: clickKey(event),
      enriched: enrichClick(event),
      ordinal: 0,
      sequence: BigInt(n),
    }));
    await insertBlock(stores.clickhouse, { table: 'clicks', block: clickBlock(rows), token: tracking });
    const stored = await stores.clickhouse.query({ query: 'SELECT * FROM clicks', format: 'JSONEachRow' });
    const text = await stored.text();
    const directory = join(ingest.dataDir, 'journal', 'ingest-0');
    const journal = Buffer.concat(readdirSync(directory).map((name) => readFileSync(join(directory, name))));
    expect(clicks.length).toBeGreaterThanOrEqual(3);
    expect(journal.includes(COOKIE) || text.includes(COOKIE) || text.includes('127.0.0.1')).toBe(false);
    expect(journal.includes(Buffer.from(uuidToBytes(COOKIE)))).toBe(false);
    expect(journal.includes(Buffer.from('00000000000000000000ffff7f000001', 'hex'))).toBe(false);
  },
);
