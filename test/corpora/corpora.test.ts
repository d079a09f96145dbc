import { expect, test } from 'vitest';
import { isBotAgent } from '../../core/enrich/bots.ts';
import { deviceOf } from '../../core/enrich/devices.ts';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import { channelOfReferer } from '../../core/enrich/infer-channel.ts';
import { parseUserAgent } from '../../core/enrich/user-agents.ts';
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

/** Agents of `crawler-user-agents` that people send, or that nothing tells from a browser. */
const PEOPLE_AMONG_CRAWLERS = [
  // In-app browsers of Instagram and Facebook, whose previews have agents of their own.
  / Instagram \d/,
  /MetaIAB Facebook$/,
  // Browsers within editors (Visual Studio Code, Trae).
  / (?:Code|Trae)\/[\d.]+ Chrome\//,
  // A browser for one site (Fluid, macOS).
  / Fluid\//,
];

/** Agents of the sample of 2018 that no person's browser sends: a headless browser, feed readers, an extension. */
const PROGRAMS_AMONG_PEOPLE = [/PhantomJS/, /FeedReader/, /Vienna\//, /^ghostery$/];

test('every crawler is a bot but a few that people send, and no browser of people is', () => {
  const among = (patterns: readonly RegExp[], userAgent: string) =>
    patterns.some((one) => one.test(userAgent));
  const wrong = userAgents.filter(({ source, userAgent }) => {
    if (source === 'crawler-user-agents')
      return isBotAgent(userAgent) === among(PEOPLE_AMONG_CRAWLERS, userAgent);
    const programs = source === 'user-agents-2018' ? PROGRAMS_AMONG_PEOPLE : [];
    return isBotAgent(userAgent) !== among(programs, userAgent);
  });
  expect(wrong.map(({ userAgent }) => userAgent)).toEqual([]);
});

test('a browser and a system have one spelling, however an agent spells them', () => {
  const spellings = new Map<string, Set<string>>();
  for (const { userAgent } of userAgents) {
    for (const agent of [userAgent, userAgent.toLowerCase(), userAgent.toUpperCase()]) {
      const { browser, os } = parseUserAgent(agent);
      for (const name of [browser, os]) {
        const folded = name.toLowerCase();
        spellings.set(folded, (spellings.get(folded) ?? new Set()).add(name));
      }
    }
  }
  expect([...spellings.values()].filter((names) => names.size > 1).map((names) => [...names])).toEqual([]);
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
    expect(row.agent.browser).not.toBe('');
    expect(row.agent.os).not.toBe('');
  }
});
