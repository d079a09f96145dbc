import { expect, test } from 'vitest';
import { enrichedClick } from '../../test/support/enriched-click.ts';
import { NO_LABELS } from '../events/click-labels.ts';
import { CLICK_FLAGS, type ClickEvent } from '../events/types.ts';
import { createEnricher } from './enrich.ts';
import type { Geo } from './geo.ts';

const geo: Geo = {
  placeOf: (address) =>
    address[15] === 1
      ? { country: 'GB', city: 'London', continent: 'EU', region: 'GB-ENG', asn: 64_501 }
      : { country: '', city: '', continent: '', region: '', asn: 0 },
};

const click: ClickEvent = {
  kind: 'click',
  ts: 1_795_168_800_000_000,
  workspaceId: new Uint8Array(16),
  linkId: new Uint8Array(16),
  visitorId: new Uint8Array(16),
  labels: NO_LABELS,
  language: '',
  channel: 'twitter',
  referer: 'https://t.co/\u0007x',
  userAgent:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  address: Uint8Array.from([...new Array(15).fill(0), 1]),
  flags: 0,
  ad: null,
};

test('enrichment adds place, device, browser, system and a clean referer', () => {
  expect(createEnricher({ geo }).enrichClick(click)).toEqual(
    enrichedClick({
      place: { country: 'GB', city: 'London', continent: 'EU', region: 'GB-ENG', asn: 64_501 },
      agent: { device: 'mobile', browser: 'Mobile Safari', os: 'iOS', bot: false },
      referer: { text: 'https://t.co/x', host: 't.co', source: 'X', sourceKind: 'social' },
      isBot: false,
      channel: 'twitter',
    }),
  );
});

test('the trigger, the language and the labels are the click’s', () => {
  const labels = { ...NO_LABELS, slug: 'Sale', utmSource: 'x' };
  const { enrichClick } = createEnricher({ geo });
  const scanned = { ...click, labels, language: 'de', flags: CLICK_FLAGS.qr };
  expect(enrichClick(scanned)).toMatchObject({
    trigger: 'qr',
    language: 'de',
    labels,
    isBot: false,
  });
});

test('flags make one click a bot, not the next one of the same browser', () => {
  const { enrichClick } = createEnricher({ geo });
  expect(enrichClick({ ...click, flags: CLICK_FLAGS.head }).isBot).toBe(true);
  expect(enrichClick({ ...click, flags: CLICK_FLAGS.prefetch }).isBot).toBe(true);
  expect(enrichClick({ ...click, flags: CLICK_FLAGS.counted }).isBot).toBe(false);
  expect(enrichClick({ ...click, userAgent: '' }).isBot).toBe(true);
});

test('equal clicks give equal rows, in any order, from any enricher', () => {
  const clicks = [
    '',
    'curl/8',
    click.userAgent,
    'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
  ].map((userAgent) => ({ ...click, userAgent }));
  const first = createEnricher({ geo });
  const rows = clicks.map(first.enrichClick);
  const second = createEnricher({ geo });
  expect(clicks.toReversed().map(second.enrichClick).toReversed()).toEqual(rows);
  expect(clicks.map(first.enrichClick)).toEqual(rows);
});
