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
 * Measures what the pixel costs a page in Chromium: the CPU time of the page's thread when the script loads with an id in
 * the address and when it reports an order, and the layouts that it forces. Beside an empty script, and one that only
 * reads and writes a cookie. CPU time, because other programs of the machine lengthen a task; and not with Chromium's own
 * slowing down, whose interruptions of the thread are CPU time too. A slow phone takes about six times as long.
 *
 *   node bench/pixel.ts [--rounds 5]
 */

const options = readOptions({});
const SLOWER = 6;
/** Marks of the order in the trace. */
const MARK = 'hoplog-order';
const TASK_MS = 5;
const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';
/** What a script can't do without, to remember a visitor. */
const COOKIE = `document.cookie = 'a=1;path=/'; document.cookie; window.hoplog = { order() {} };`;
const ORDER = `hoplog.order({ order_id: '1', amount: 49.9, currency: 'eur', email: 'ada@shop.example' })`;

type Cost = { script: number; order: number; layouts: number };
type TraceEvent = {
  name: string;
  ts: number;
  tts?: number;
  tdur?: number;
  args?: { data?: { url?: string } };
};

await benchmark(async (bench) => {
  await buildWeb();
  const pixel = await readFile(join(DIST_DIR, 'pixel.js'));
  const server = createServer((request, response) => {
    const isScript = request.url?.startsWith('/pixel.js');
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    if (request.url?.startsWith('/pixel.js?key=')) return response.end(pixel);
    if (request.url?.startsWith('/pixel.js?cookie')) return response.end(COOKIE);
    if (isScript) return response.end('window.hoplog = { order() {} };');
    const query = new URL(request.url ?? '/', 'http://shop').searchParams.get('script') ?? '';
    const items = '<li>An item of the shop</li>'.repeat(2_000);
    response.end(
      `<!doctype html><title>Shop</title><ul>${items}</ul><script async src="/pixel.js${query}"></script>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  bench.defer(() => server.close());
  // A host whose domain takes a cookie, as a shop's does.
  const origin = `http://shop.example.localhost:${(server.address() as AddressInfo).port}`;
  const browser = await sharedChromium();
  bench.defer(() => browser.close());
  const contestants = [
    ['the pixel', '?key=pk_live_bench'],
    ['a cookie alone', '?cookie'],
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
    title: 'What the pixel costs a page',
    versions: [
      `Chromium ${browser.version()}`,
      "milliseconds of CPU time of the page's thread: median of the rounds (range)",
    ],
    tables: [
      {
        header: ['script', 'its task ms', `${SLOWER} times`, 'an order ms', 'layouts in them'],
        rows: contestants.map(({ name }) => [
          name,
          spread(of(name, 'script'), 2),
          spread(
            of(name, 'script').map((ms) => SLOWER * ms),
            1,
          ),
          spread(of(name, 'order'), 2),
          spread(of(name, 'layouts')),
        ]),
      },
    ],
    notes: [
      `${number(size)} bytes with gzip. Wanted: no task over ${TASK_MS} ms where it takes ${SLOWER} times as long, no layout, at most 3,360 bytes.`,
    ],
    figures: { pixel_task_ms: median(of('the pixel', 'script')), pixel_bytes: size },
  });
});

/** Loads the page once, in a browser without a cache. */
async function costOf(browser: Browser, url: string): Promise<Cost> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const devTools = await context.newCDPSession(page);
  const events: TraceEvent[] = [];
  devTools.on(
    'Tracing.dataCollected',
    ({ value }) => void events.push(...(value as unknown as TraceEvent[])),
  );
  await devTools.send('Tracing.start', {
    transferMode: 'ReportEvents',
    categories: 'devtools.timeline,blink.user_timing',
  });
  await page.goto(url);
  await page.waitForFunction('window.hoplog');
  await page.evaluate(`performance.mark('${MARK}'); ${ORDER}; performance.mark('${MARK}')`);
  const ended = new Promise((resolve) => devTools.once('Tracing.tracingComplete', resolve));
  await devTools.send('Tracing.end');
  await ended;
  await context.close();
  const ofScript = events.filter(({ args }) => args?.data?.url?.includes('/pixel.js'));
  const script =
    ofScript.reduce((sum, { name, tdur = 0 }) => sum + (name === 'EvaluateScript' ? tdur : 0), 0) / 1_000;
  const marks = events.filter(({ name }) => name === MARK).map(({ tts = 0 }) => tts);
  const order = ((marks.at(-1) ?? 0) - (marks[0] ?? 0)) / 1_000;
  const layouts = ofScript.filter(({ name }) => name === 'Layout').length;
  return { script, order, layouts };
}
