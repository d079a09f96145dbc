import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildWeb, DIST_DIR } from '../../web/build.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { type Cost, type CostScript, costOf, startCostPages } from './pixel-cost.ts';

const ROUNDS = 5;
/** CPU time, compared with what ran in between: a loaded machine changes both. 1.6 and 1.0 were measured. */
const MOST_TIMES = 3;

let pages: Awaited<ReturnType<typeof startCostPages>>;

inChromium(async () => {
  await buildWeb();
  pages = await startCostPages(await readFile(join(DIST_DIR, 'pixel.js')));
  return () => pages.close();
});

const median = (values: number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

test('no task of the pixel takes much longer than what it can’t do without, and none lays the page out', async () => {
  const browser = await sharedChromium();
  const scripts: CostScript[] = ['the pixel', 'element and address alone', 'a beacon alone'];
  const costs = scripts.map((): Cost[] => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, script] of scripts.entries())
      costs[index]?.push(await costOf(browser, pages.urlOf(script)));
  const [pixel = [], address = [], beacon = []] = costs;
  const firstOf = (all: Cost[]) => median(all.map(({ first }) => first));
  expect(firstOf(pixel) / firstOf(address)).toBeLessThan(MOST_TIMES);
  expect(median(pixel.map(({ longest }) => longest)) / firstOf(beacon)).toBeLessThan(MOST_TIMES);
  expect(pixel.map(({ layouts }) => layouts)).toEqual(pixel.map(() => 0));
  expect((await costOf(browser, pages.urlOf('a layout alone'))).layouts).toBe(1);
});
