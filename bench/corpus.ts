import { createEnricher } from '../core/enrich/enrich.ts';
import { openGeo } from '../core/enrich/geo.ts';
import { corpusClicks } from '../test/corpora/clicks.ts';
import { shareTables } from './shares.ts';

/**
 * Runs the corpus of real user agents and referers (`test/corpora/`) through enrichment and prints the
 * shares of bots, devices, browsers, systems, channels, and countries, and the speed with cold and warm caches.
 *
 *   node bench/corpus.ts
 */

const WARM_ROUNDS = 100;

const geo = openGeo();
const clicks = corpusClicks();
const { enrichClick } = createEnricher({ geo });

const cold = performance.now();
const rows = clicks.map(enrichClick);
const coldMs = performance.now() - cold;

const warm = performance.now();
for (let round = 0; round < WARM_ROUNDS; round++) for (const click of clicks) enrichClick(click);
const warmMs = performance.now() - warm;

const shown = rows.map(({ place: { country }, agent: { device, browser, os }, isBot, channel }) => ({
  device,
  browser,
  os,
  isBot,
  channel,
  country,
}));
const people = shown.filter((row) => !row.isBot);
const lines = [
  `${clicks.length} clicks of distinct user agents; geography of ${mib(geo.bytes)} MiB`,
  `cold ${rate(clicks.length, coldMs)} clicks/s, warm ${rate(clicks.length * WARM_ROUNDS, warmMs)} clicks/s`,
  '',
  '== all clicks',
  ...shareTables(shown),
  '== people only',
  ...shareTables(people),
];
process.stdout.write(`${lines.join('\n')}\n`);

function rate(count: number, ms: number): string {
  return Math.round((count * 1_000) / ms).toLocaleString('en');
}

function mib(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
