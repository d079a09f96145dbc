import { afterAll, beforeAll, expect, test } from 'vitest';
import { inferChannel } from '../core/enrich/infer-channel.ts';
import { cleanReferer } from '../core/enrich/referer.ts';
import { createUserAgents } from '../core/enrich/user-agents.ts';
import { corpusThroughService } from './corpora/through-service.ts';
import { type ServedWorkspace, servedWorkspace } from './support/shared-service.ts';

let served: ServedWorkspace;

beforeAll(async () => {
  served = await servedWorkspace();
});

afterAll(() => served?.close());

test('5,000 real user agents and 500 real referers pass through the whole pipeline and are enriched', async () => {
  const { service } = served;
  const passed = await corpusThroughService(service, service.demo.secret_key);
  expect(new Set(passed.map(({ sent }) => sent.userAgent)).size).toBeGreaterThanOrEqual(5_000);
  expect(new Set(passed.map(({ sent }) => sent.referer)).size).toBeGreaterThanOrEqual(500);
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
