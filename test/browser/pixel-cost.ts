import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';

const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';
const ORDER = `hoplog.order({ order_id: '1', amount: 49.9, currency: 'eur', email: 'ada@shop.example' })`;
/** Operations that a pixel needs, each alone in a script; and a layout, which a pixel must not force. */
const ALONE = {
  'an empty script': '',
  'its element alone': 'document.currentScript;',
  'a change of the address alone': `history.replaceState(history.state, '', location.href.split('&_vid')[0]);`,
  'element and address alone': `document.currentScript; history.replaceState(history.state, '', location.href.split('&_vid')[0]);`,
  'a cookie alone': `document.cookie = 'a=1;path=/'; document.cookie;`,
  'a layout alone': `document.body.append('1'); document.body.offsetHeight;`,
  'a beacon alone': `navigator.sendBeacon('/collect', '{}');`,
  'a fetch alone': `fetch('/collect', { method: 'POST', body: '{}' });`,
};
const PIXEL = 'the pixel';
/** On a page to which no short link led. */
const WITHOUT_ID = 'the pixel without an id';

/** Scripts of the pages. */
export type CostScript = typeof PIXEL | typeof WITHOUT_ID | keyof typeof ALONE;
export const COST_SCRIPTS = [PIXEL, WITHOUT_ID, ...Object.keys(ALONE)] as CostScript[];

/** CPU time in milliseconds of the script's first task, and of the longest that follows. */
export type Cost = { first: number; longest: number; tasks: number; layouts: number };

type TraceEvent = {
  name: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tdur?: number;
  args?: { data?: { url?: string } };
};

/** Whether a text names the pixel itself. */
const isPixel = (script: string | null): boolean => script === null || script.startsWith(PIXEL);

/** Serves a page of a shop with each of the scripts. A short link led to all but one. */
export async function startCostPages(
  pixel: Buffer,
): Promise<{ urlOf(script: CostScript): string; close(): void }> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shop');
    const script = searchParams.get('script');
    if (pathname === '/pixel.js') {
      response.setHeader('content-type', 'text/javascript');
      if (isPixel(script)) return response.end(pixel);
      return response.end(`${ALONE[script as keyof typeof ALONE]} window.hoplog = { order() {} };`);
    }
    response.setHeader('content-type', 'text/html; charset=utf-8');
    const items = '<li>An item of the shop</li>'.repeat(2_000);
    const source = `/pixel.js?key=pk_live_cost&script=${encodeURIComponent(script ?? PIXEL)}`;
    response.end(
      `<!doctype html><title>Shop</title><ul>${items}</ul><script async src="${source}"></script>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A host whose domain takes a cookie, as a shop's does.
  const origin = `http://shop.example.localhost:${(server.address() as AddressInfo).port}`;
  return {
    urlOf: (script) =>
      `${origin}/?script=${encodeURIComponent(script)}${script === WITHOUT_ID ? '' : `&_vid=${VID}`}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Loads a page once, in a browser without a cache, and calls an order. */
export async function costOf(browser: Browser, url: string): Promise<Cost> {
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
  const responded = isPixel(new URL(url).searchParams.get('script'))
    ? page.waitForResponse(/collect$/)
    : null;
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
  const isIn = (event: TraceEvent) =>
    runs.some((run) => event.tid === run.tid && run.ts <= event.ts && event.ts < ends(run));
  const layouts = events.filter((event) => event.name === 'Layout' && isIn(event)).length;
  return { first, longest: Math.max(0, ...later), tasks: costs.length, layouts };
}
