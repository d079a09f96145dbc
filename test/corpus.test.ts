import { afterAll, beforeAll, expect, test } from 'vitest';
import { inferChannel } from '../core/enrich/infer-channel.ts';
import { cleanReferer } from '../core/enrich/referer.ts';
import { createUserAgents } from '../core/enrich/user-agents.ts';
import { corpusThroughService } from './corpora/through-service.ts';
import { NIGHTLY } from './support/nightly.ts';
import { type ServedWorkspace, servedWorkspace } from './support/shared-service.ts';

/** A quarter of the corpus in each run; each part of it is enriched in the tests of core/enrich. */
const EVERY = NIGHTLY ? 1 : 4;
const LEAST = { userAgents: 5_000 / EVERY, referers: NIGHTLY ? 500 : 250 };

let served: ServedWorkspace;

beforeAll(async () => {
  served = await servedWorkspace();
});

afterAll(() => served?.close());

test(`${LEAST.userAgents} real user agents and ${LEAST.referers} real referers pass through the whole pipeline and are enriched`, async () => {
  const { service } = served;
  const passed = await corpusThroughService(service, service.demo.secret_key, EVERY);
  expect(new Set(passed.map(({ sent }) => sent.userAgent)).size).toBeGreaterThanOrEqual(LEAST.userAgents);
  expect(new Set(passed.map(({ sent }) => sent.referer)).size).toBeGreaterThanOrEqual(LEAST.referers);
  const { profileOf } = createUserAgents();
  for (const { sent, stored } of passed) {
    const { device, browser, os } = profileOf(sent.userAgent);
    expect(stored).toMatchObject({ device, browser, os });
    expect(stored.referer).toBe(cleanReferer(sent.referer));
    expect(stored.channel).toBe(inferChannel(sent.referer, sent.userAgent));
  }
  const known = passed.filter(({ stored }) => stored.country !== '').length / passed.length;
  expect(known).toBeGreaterThan(0.8); // the rest of IPv4 is private, reserved or unassigned
  expect(passed.some(({ stored }) => stored.is_bot)).toBe(true);
  expect(passed.some(({ stored }) => !stored.is_bot)).toBe(true);
});
