import { expect, test } from 'vitest';
import { isBotAgent } from '../../core/enrich/bots.ts';
import { deviceOf } from '../../core/enrich/devices.ts';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import { channelOfReferer } from '../../core/enrich/infer-channel.ts';
import { corpusClicks } from './clicks.ts';
import { loadReferers } from './referers.ts';
import { loadUserAgents } from './user-agents.ts';

const userAgents = loadUserAgents();
const referers = loadReferers();

function share(part: number, whole: number): number {
  return part / whole;
}

test('there are at least 5,000 distinct user agents and 500 distinct referers', () => {
  expect(new Set(userAgents.map((entry) => entry.userAgent)).size).toBeGreaterThanOrEqual(5_000);
  expect(new Set(referers.map((entry) => entry.referer)).size).toBeGreaterThanOrEqual(500);
});

test('at least 99 in 100 browsers have the device that their source saw', () => {
  const browsers = userAgents.filter((entry) => entry.device !== null);
  const right = browsers.filter((entry) => deviceOf(entry.userAgent) === entry.device);
  expect(share(right.length, browsers.length)).toBeGreaterThan(0.99);
});

test('at least 99 in 100 crawlers are bots, and no more than 2 in 1,000 browsers', () => {
  const crawlers = userAgents.filter((entry) => entry.source === 'crawler-user-agents');
  const browsers = userAgents.filter((entry) => entry.source !== 'crawler-user-agents');
  const found = crawlers.filter((entry) => isBotAgent(entry.userAgent));
  const misclassified = browsers.filter((entry) => isBotAgent(entry.userAgent));
  expect(share(found.length, crawlers.length)).toBeGreaterThan(0.99);
  expect(share(misclassified.length, browsers.length)).toBeLessThan(0.002);
});

test('referers of search engines and web mail get their channels, and of no other network', () => {
  const of = (medium: string, channel: string) => {
    const all = referers.filter((entry) => entry.medium === medium);
    return share(all.filter((entry) => channelOfReferer(entry.referer) === channel).length, all.length);
  };
  expect(of('search', 'website')).toBeGreaterThan(0.8);
  expect(of('email', 'newsletter')).toBeGreaterThan(0.7);
  const sites = new Map(referers.map((entry) => [entry.site, channelOfReferer(entry.referer)]));
  expect(
    ['Facebook', 'Twitter', 'LinkedIn', 'Instagram', 'Youtube', 'Reddit'].map((site) => sites.get(site)),
  ).toEqual(['facebook', 'twitter', 'linkedin', 'instagram', 'youtube', 'reddit']);
});

test('every click of the corpus is enriched, with the same result twice', () => {
  const clicks = corpusClicks();
  const rows = clicks.map(createEnricher({ geo: emptyGeo() }).enrichClick);
  expect(rows).toHaveLength(userAgents.length);
  expect(clicks.map(createEnricher({ geo: emptyGeo() }).enrichClick)).toEqual(rows);
  for (const row of rows) {
    expect(row.browser).not.toBe('');
    expect(row.os).not.toBe('');
  }
});
