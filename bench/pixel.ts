import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { sharedChromium } from '../test/browser/chromium.ts';
import { COST_SCRIPTS, type Cost, costOf, startCostPages } from '../test/browser/pixel-cost.ts';
import { buildWeb, DIST_DIR } from '../web/build.ts';
import { benchmark } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';

/**
 * Measures the cost of the pixel for a page in Chromium: the CPU time of each of its tasks in the page's thread, and
 * the layouts that it forces, when the script loads with an id in the address and when it reports an order. It is
 * compared with pages whose script does a single step that every pixel needs. CPU time, because other programs of the
 * machine lengthen a task. Chromium's own throttling is off, because its interruptions of the thread count as CPU time.
 * A slow phone takes about six times as long.
 *
 *   node bench/pixel.ts [--rounds 5]
 */

const options = readOptions({});
const SLOWER = 6;
const TASK_MS = 5;

await benchmark(async (bench) => {
  await buildWeb();
  const pixel = await readFile(join(DIST_DIR, 'pixel.js'));
  const pages = await startCostPages(pixel);
  bench.defer(() => pages.close());
  const browser = await sharedChromium();
  bench.defer(() => browser.close());
  const contestants = COST_SCRIPTS.map(
    (name): Contestant<Cost> => ({ name, measure: () => costOf(browser, pages.urlOf(name)) }),
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
