import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../test/browser/chromium.ts';
import { buildDocs } from '../web/docs/build.ts';
import { benchmark } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { median, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';
import { startBenchService } from './service/start.ts';

/**
 * Measures the time until a page of the documentation shows its main content, with a cold cache, in Chromium throttled
 * to a slow laptop (a sixth of this core) and network (1.6 Mbit/s, 150 ms of latency).
 *
 *   node bench/documentation.ts [--rounds 5]
 *
 * Time runs from the start of the navigation until the element is in the page.
 */

const options = readOptions({});
const CPU_SLOWDOWN = 6;
const NETWORK = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
/** Pages with the selector of their main content. */
const PAGES: [name: string, path: string, awaited: string][] = [
  ['first page', '/docs', '.cards a'],
  ['an operation', '/docs/api/links.create', '.request code'],
  ['the largest guide', '/docs/operations/monitoring', '.body h2'],
];

type Visit = { shown: number; kilobytes: number };

await benchmark(async (bench) => {
  await buildDocs();
  const service = await startBenchService(bench, { dataDir: join(bench.directory, 'data'), links: 1 });
  const { origin } = new URL(service.apiUrl);
  const browser = await launchChromium();
  bench.defer(() => browser.close());
  const contestants = PAGES.map(([name, path, awaited]): Contestant<Visit> => {
    return { name, measure: () => visit(browser, `${origin}${path}`, awaited) };
  });
  const measured = await alternate(options.rounds, contestants);
  const of = (name: string, key: keyof Visit) => ofContestant(measured, name).map((one) => one[key]);
  report(options.results, {
    name: 'documentation',
    title: 'Until a page of the documentation shows what one came for, on a slow laptop and network',
    versions: [`Chromium ${browser.version()}`, 'milliseconds: median of the rounds (range)'],
    tables: [
      {
        header: ['page', 'shown after ms', 'transferred KB'],
        rows: PAGES.map(([name]) => [name, spread(of(name, 'shown')), spread(of(name, 'kilobytes'))]),
      },
    ],
    notes: ['Wanted: the first operation under 1,000 ms, and at most 250 KB.'],
    figures: { documentation_operation_ms: median(of('an operation', 'shown')) },
  });
});

async function visit(browser: Browser, url: string, awaited: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', NETWORK);
    await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    const began = performance.now();
    await page.goto(url, { waitUntil: 'commit' });
    await page.waitForSelector(awaited);
    const shown = performance.now() - began;
    await page.waitForLoadState('networkidle');
    return { shown, kilobytes: bytes / 1_000 };
  } finally {
    await context.close();
  }
}
