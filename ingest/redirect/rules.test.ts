import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClickEvent } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import {
  type LinkColumns,
  makeLink,
  makeWorkspace,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { PHONE, TABLET, visit } from '../../test/support/visitors.ts';

let stores: TestStores;
let ingest: TestIngest;
let workspaceId: string;

const env = { TRUST_PROXY: '127.0.0.1' };

beforeAll(async () => {
  stores = await testStores();
  workspaceId = (await makeWorkspace(stores.pool)).id;
  ingest = await startTestIngest({ ...stores, env });
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

const ANDROID =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36';
const TELEVISION = 'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.5) AppleWebKit/537.36 TV Safari/537.36';
const IN_BRITAIN = '81.2.69.142';

async function link(columns: LinkColumns) {
  const made = await makeLink(stores.pool, workspaceId, 'https://example.com/own', columns);
  return { ...made, url: `${ingest.url}/${made.slug}` };
}

/** Returns a rule with one condition that leads to `/<id>`. */
const rule = (id: string, condition: object) => ({
  id,
  conditions: [condition],
  destination_url: `https://example.com/${id}`,
});
const withRules = (...rules: object[]): LinkColumns => ({
  channel: 'newsletter',
  utm_source: 'newsletter',
  rules: JSON.stringify(rules),
});
const is = (type: string, ...values: string[]) => ({ type, operator: 'is', values });

/** Returns the path of the destination of a visit. */
async function pathOf(url: string, headers: Record<string, string> = {}): Promise<string | undefined> {
  return (await visit(url, { headers })).location?.pathname;
}

async function clicksOf(linkId: string): Promise<ClickEvent[]> {
  const events = await ingest.events();
  return events.filter(
    (event): event is ClickEvent => event.kind === 'click' && bytesToUuid(event.linkId) === linkId,
  );
}

test.each([
  ['country', is('country', 'GB'), { 'x-forwarded-for': IN_BRITAIN }],
  ['continent', is('continent', 'EU'), { 'x-forwarded-for': IN_BRITAIN }],
  ['region', is('region', 'GB-ENG'), { 'x-forwarded-for': IN_BRITAIN }],
  ['language', is('language', 'de'), { 'accept-language': 'en;q=0.5, de-AT' }],
  ['device', is('device', 'tablet'), { 'user-agent': TABLET }],
  ['os', is('os', 'android'), { 'user-agent': ANDROID }],
  ['browser', is('browser', 'mobile safari'), { 'user-agent': PHONE }],
])('a rule on the %s decides for the visitors whom it fits', async (_, condition, headers) => {
  const { url } = await link(withRules(rule('fits', condition)));
  expect(await pathOf(url, headers)).toBe('/fits');
  expect(await pathOf(url)).toBe('/own');
});

test('a tablet counts as mobile in targeting, not in rules', async () => {
  const { url } = await link({
    ...withRules(rule('phones', is('device', 'mobile'))),
    targeting: { mobile: 'https://example.com/mobile' },
  });
  expect(await pathOf(url, { 'user-agent': PHONE })).toBe('/phones');
  expect(await pathOf(url, { 'user-agent': TABLET })).toBe('/mobile');
});

test('a rule on the channel of a Smart Link decides by the channel of the click', async () => {
  const rules = withRules(rule('social', is('channel', 'facebook')));
  const { url } = await link({ ...rules, channel: null, utm_source: null });
  const { location } = await visit(url, { headers: { referer: 'https://www.facebook.com/' } });
  expect([location?.pathname, location?.searchParams.get('utm_source')]).toEqual(['/social', 'facebook']);
  const { location: other } = await visit(url, { headers: { referer: 'https://t.co/x' } });
  expect([other?.pathname, other?.searchParams.get('utm_source')]).toEqual(['/own', 'twitter']);
});

test('a rule on the visitor tells a returning one by the cookie, and with Sec-GPC everyone is new', async () => {
  const { url } = await link(withRules(rule('again', is('visitor', 'returning'))));
  const first = await visit(url);
  expect(first.location?.pathname).toBe('/own');
  const cookie = first.cookies[0]?.split(';')[0] ?? '';
  expect(await pathOf(url, { cookie })).toBe('/again');
  expect(await pathOf(url, { cookie, 'sec-gpc': '1' })).toBe('/own');
});

test('a rule on the query decides by it, and the destination gets the query too', async () => {
  const condition = { type: 'query', name: 'plan', operator: 'is', values: ['pro'] };
  const { url } = await link(withRules(rule('pro', condition)));
  const { location } = await visit(`${url}?plan=pro`);
  expect([location?.pathname, location?.searchParams.get('plan')]).toEqual(['/pro', 'pro']);
  expect(await pathOf(`${url}?plan=free`)).toBe('/own');
});

const onPlan = (operator: string, values?: string[]) => ({ type: 'query', name: 'plan', operator, values });

test.each([
  [
    'is_not',
    { ...is('language', 'de'), operator: 'is_not' },
    { 'accept-language': 'fr' },
    { 'accept-language': 'de-AT' },
  ],
  // An unknown value differs from every value: the test's address has no place.
  ['is_not', { ...is('country', 'GB'), operator: 'is_not' }, {}, { 'x-forwarded-for': IN_BRITAIN }],
])('%s on a value holds for every other, also an unknown one', async (_, condition, fits, other) => {
  const { url } = await link(withRules(rule('fits', condition)));
  expect([await pathOf(url, fits), await pathOf(url, other)]).toEqual(['/fits', '/own']);
});

test.each([
  [onPlan('is', ['pro', 'team']), '?x=1&plan=team', '?plan=Pro'],
  [onPlan('is_not', ['pro']), '', '?plan=pro'],
  [onPlan('contains', ['PR']), '?plan=supreme', '?plan=free'],
  [onPlan('contains', ['STRASSE', 'οδόσ']), '?plan=Gro%C3%9Fe%20Stra%C3%9Fe', '?plan=strase'],
  [onPlan('contains', ['οδόσ']), `?plan=${encodeURIComponent('ΟΔΌΣ')}`, '?plan=odos'],
  [onPlan('exists'), '?plan', '?plans=1'],
])('a rule on the query %j holds for %s, not for %s', async (condition, fits, other) => {
  const { url } = await link(withRules(rule('fits', condition)));
  expect([await pathOf(url + fits), await pathOf(url + other)]).toEqual(['/fits', '/own']);
});

test('a rule on the system opens an app, with what the link adds', async () => {
  const app = { id: 'app', conditions: [is('os', 'android')], destination_url: 'myapp://product/17?ref=1' };
  const { url } = await link(withRules(app));
  const { headers } = await visit(url, { headers: { 'user-agent': ANDROID } });
  expect(headers.get('location')).toMatch(
    /^myapp:\/\/product\/17\?ref=1&utm_source=newsletter&_vid=[0-9a-f-]{36}$/,
  );
  expect(await pathOf(url, { 'user-agent': PHONE })).toBe('/own');
});

test('rules on time decide by the clock', async () => {
  const always = {
    type: 'weekly',
    days: [1, 2, 3, 4, 5, 6, 7],
    from: '00:00',
    to: '00:00',
    time_zone: 'UTC',
  };
  const { url } = await link(
    withRules(
      rule('past', { type: 'time', before: '2020-01-01T00:00:00Z' }),
      rule('never', { ...is('country', 'GB'), values: ['AQ'] }),
      rule('always', always),
      rule('later', { type: 'time', after: '2020-01-01T00:00:00Z' }),
    ),
  );
  expect(await pathOf(url)).toBe('/always');
});

test('rules come before targeting, and targeting before the split; the click has what decided', async () => {
  const split = ['a', 'b'].map((id) => ({ id, weight: 1, destination_url: `https://example.com/${id}` }));
  const { url, id } = await link({
    ...withRules(rule('french', is('language', 'fr'))),
    targeting: {
      ios: 'myapp://open/17',
      android: 'https://example.com/android',
      mobile: 'https://example.com/mobile',
    },
    split: JSON.stringify(split),
  });
  expect(await pathOf(url, { 'user-agent': PHONE, 'accept-language': 'fr' })).toBe('/french');
  const app = await visit(url, { headers: { 'user-agent': TABLET } });
  expect(app.headers.get('location')).toMatch(/^myapp:\/\/open\/17\?utm_.*_vid=/);
  expect(await pathOf(url, { 'user-agent': ANDROID })).toBe('/android');
  const variant = await pathOf(url, { 'user-agent': TELEVISION });
  expect(['/a', '/b']).toContain(variant);
  const labels = (await clicksOf(id)).map(({ labels: { ruleId, variantId } }) => [ruleId, variantId]);
  expect(labels).toEqual([
    ['french', ''],
    ['', ''],
    ['', ''],
    ['', variant?.slice(1)],
  ]);
});

test('a visitor keeps their variant over restarts, and a decided winner gets everyone', async () => {
  const split = ['a', 'b', 'c'].map((id) => ({
    id,
    weight: 1,
    destination_url: `https://example.com/${id}`,
  }));
  const { slug, id } = await link({ channel: 'newsletter', split: JSON.stringify(split) });
  const cookies = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const { cookies } = await visit(`${ingest.url}/${slug}`);
      return cookies[0]?.split(';')[0] ?? '';
    }),
  );
  const variantsOf = ({ url }: TestIngest) =>
    Promise.all(cookies.map((cookie) => pathOf(`${url}/${slug}`, { cookie })));
  const before = await variantsOf(ingest);
  const other = await startTestIngest({ ...stores, env: { ...env, STREAM_NAME: 'ingest-1' } });
  try {
    expect(await variantsOf(other)).toEqual(before);
    await stores.pool.query("UPDATE links SET split_winner = 'b' WHERE id = $1", [id]);
    await expect.poll(async () => new Set(await variantsOf(other))).toEqual(new Set(['/b']));
  } finally {
    await other.close();
    await other.remove();
  }
});
