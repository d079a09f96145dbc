import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { sharedChromium } from '../test/browser/chromium.ts';
import { buildWeb, DIST_DIR } from '../web/build.ts';
import { benchmark } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';

/**
 * Measures what the pixel costs a page, in Chromium whose CPU is slowed down six times: the time that its script takes
 * when it loads with an id in the address and reports an order, and the layouts that it forces. Beside an empty script.
 *
 *   node bench/pixel.ts [--rounds 5]
 */

const options = readOptions({});
const SLOWER = 6;
const TASK_MS = 5;
const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';
const ORDER = `hoplog.order({ order_id: '1', amount: 49.9, currency: 'eur', email: 'ada@shop.example' })`;

type Cost = { script: number; order: number; layouts: number };
type TraceEvent = { name: string; dur?: number; args?: { data?: { url?: string } } };

await benchmark(async (bench) => {
  await buildWeb();
  const pixel = await readFile(join(DIST_DIR, 'pixel.js'));
  const server = createServer((request, response) => {
    const isScript = request.url?.startsWith('/pixel.js');
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    if (request.url?.startsWith('/pixel.js?key=')) return response.end(pixel);
    if (isScript) return response.end('window.hoplog = { order() {} };');
    const query = new URL(request.url ?? '/', 'http://shop').searchParams.get('script') ?? '';
    const items = '<li>An item of the shop</li>'.repeat(2_000);
    response.end(
      `<!doctype html><title>Shop</title><ul>${items}</ul><script async src="/pixel.js${query}"></script>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  bench.defer(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await sharedChromium();
  bench.defer(() => browser.close());
  const contestants = [
    ['the pixel', '?key=pk_live_bench'],
    ['an empty script', '?nothing'],
  ].map(
    ([name = '', query = '']): Contestant<Cost> => ({
      name,
      measure: () => costOf(browser, `${origin}/?script=${encodeURIComponent(query)}&_vid=${VID}`),
    }),
  );
  const measured = await alternate(options.rounds, contestants);
  const of = (name: string, key: keyof Cost) => ofContestant(measured, name).map((cost) => cost[key]);
  const size = gzipSync(pixel, { level: 9 }).length;
  report(options.results, {
    name: 'pixel',
    title: `What the pixel costs a page, with the CPU slowed down ${SLOWER} times`,
    versions: [`Chromium ${browser.version()}`, 'milliseconds: median of the rounds (range)'],
    tables: [
      {
        header: ['script', 'its task ms', 'an order ms', 'layouts in them'],
        rows: contestants.map(({ name }) => [
          name,
          spread(of(name, 'script')),
          spread(of(name, 'order')),
          spread(of(name, 'layouts')),
        ]),
      },
    ],
    notes: [
      `${number(size)} bytes with gzip. Wanted: no task over ${TASK_MS} ms, no layout, at most 3,072 bytes.`,
    ],
    figures: { pixel_task_ms: median(of('the pixel', 'script')), pixel_bytes: size },
  });
});

/** Loads the page once, in a browser without a cache. */
async function costOf(browser: Browser, url: string): Promise<Cost> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const devTools = await context.newCDPSession(page);
  await devTools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  const events: TraceEvent[] = [];
  devTools.on(
    'Tracing.dataCollected',
    ({ value }) => void events.push(...(value as unknown as TraceEvent[])),
  );
  await devTools.send('Tracing.start', { transferMode: 'ReportEvents', categories: 'devtools.timeline,v8' });
  await page.goto(url);
  await page.waitForFunction('window.hoplog');
  const order = (await page.evaluate(
    `(() => { const at = performance.now(); ${ORDER}; return performance.now() - at })()`,
  )) as number;
  const ended = new Promise((resolve) => devTools.once('Tracing.tracingComplete', resolve));
  await devTools.send('Tracing.end');
  await ended;
  await context.close();
  const ofScript = events.filter(({ args }) => args?.data?.url?.includes('/pixel.js'));
  const script =
    ofScript.reduce((sum, { name, dur = 0 }) => sum + (name === 'EvaluateScript' ? dur : 0), 0) / 1_000;
  const layouts = ofScript.filter(({ name }) => name === 'Layout').length;
  return { script, order, layouts };
}
