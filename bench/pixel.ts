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
 * Measures what the pixel costs a page in Chromium: the CPU time of the page's thread in each of its tasks, when the script
 * loads with an id in the address and when it reports an order, and the layouts that it forces. Beside pages whose script
 * does one thing alone that a pixel can't do without. CPU time, because other programs of the machine lengthen a task; and
 * not with Chromium's own slowing down, whose interruptions of the thread are CPU time too. A slow phone takes about six
 * times as long.
 *
 *   node bench/pixel.ts [--rounds 5]
 */

const options = readOptions({});
const SLOWER = 6;
const TASK_MS = 5;
const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';
const ORDER = `hoplog.order({ order_id: '1', amount: 49.9, currency: 'eur', email: 'ada@shop.example' })`;
/** Scripts of pages by the query of their address. */
const ALONE: Record<string, string> = {
  nothing: '',
  address: `document.currentScript; history.replaceState(history.state, '', location.href.split('&_vid')[0]);`,
  cookie: `document.cookie = 'a=1;path=/'; document.cookie;`,
  beacon: `navigator.sendBeacon('/collect', '{}');`,
};

/** CPU time in milliseconds of the script's first task, and of the longest that follows. */
type Cost = { first: number; longest: number; tasks: number; layouts: number };
type TraceEvent = {
  name: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
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
    if (isScript) {
      const alone = ALONE[request.url?.split('?')[1] ?? ''] ?? '';
      return response.end(`${alone} window.hoplog = { order() {} };`);
    }
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
    ['the address alone', '?address'],
    ['a cookie alone', '?cookie'],
    ['a beacon alone', '?beacon'],
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
        header: [
          'script',
          'first task ms',
          `${SLOWER} times`,
          'longest later ms',
          `${SLOWER} times`,
          'tasks',
          'layouts',
        ],
        rows: contestants.map(({ name }) => {
          const [first, longest] = [of(name, 'first'), of(name, 'longest')];
          const slower = (all: number[]) =>
            spread(
              all.map((ms) => SLOWER * ms),
              1,
            );
          return [
            name,
            spread(first, 2),
            slower(first),
            spread(longest, 2),
            slower(longest),
            spread(of(name, 'tasks')),
            spread(of(name, 'layouts')),
          ];
        }),
      },
    ],
    notes: [
      `${number(size)} bytes with gzip. Wanted: no task over ${TASK_MS} ms where it takes ${SLOWER} times as long, no layout, at most 3,072 bytes.`,
    ],
    figures: {
      pixel_first_task_ms: median(of('the pixel', 'first')),
      pixel_later_task_ms: median(of('the pixel', 'longest')),
      pixel_bytes: size,
    },
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
    categories: 'toplevel,devtools.timeline',
  });
  await page.goto(url);
  await page.waitForFunction('window.hoplog');
  const responded = url.includes('key%3D') ? page.waitForResponse(/collect$/) : null;
  await page.evaluate(ORDER);
  await responded;
  const ended = new Promise((resolve) => devTools.once('Tracing.tracingComplete', resolve));
  await devTools.send('Tracing.end');
  await ended;
  await context.close();
  const isOurs = ({ args }: TraceEvent) => args?.data?.url?.includes('/pixel.js') === true;
  const [script] = events.filter((event) => event.name === 'EvaluateScript' && isOurs(event));
  if (!script) throw new Error('the trace has no script');
  const ends = ({ ts, dur = 0 }: TraceEvent) => ts + dur;
  const tasks = events.filter(
    (task) => task.name.endsWith('RunTask') && task.pid === script.pid && task.tid === script.tid,
  );
  const runs = events.filter(
    (event) => (event.name === 'FunctionCall' || event.name === 'EvaluateScript') && isOurs(event),
  );
  const holding = (run: TraceEvent) => tasks.filter((task) => task.ts <= run.ts && ends(run) <= ends(task));
  const costs = [...new Set(runs.flatMap(holding))].toSorted((one, other) => one.ts - other.ts);
  const [first = 0, ...later] = costs.map(({ tdur = 0 }) => tdur / 1_000);
  const layouts = events.filter((event) => event.name === 'Layout' && isOurs(event)).length;
  return { first, longest: Math.max(0, ...later), tasks: costs.length, layouts };
}
