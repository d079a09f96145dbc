import { expect } from 'vitest';
import { assumedColumns } from '../../core/referral-imports/format.ts';
import { REFERRAL_FORMATS } from '../../core/referral-imports/formats/known.ts';
import { merchant } from '../referrals/support.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { blocksOf, readDocument } from './markdown.ts';
import { pasted } from './pasted.ts';

/**
 * The calls of the guides about providers, run as they are printed. `test/connections/follow-guides.ts` follows them
 * whole.
 */

let env: Record<string, string>;

test.beforeAll(async ({ api }) => {
  const shop = await api.addWorkspace();
  const m = merchant(shop);
  const { id } = await m.program({ credit_enabled: true, purchase_credit: 5 });
  await m.enroll('anna');
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  env = { API: `${url}/api/v1`, KEY: shop.secretKey, PROGRAM: id };
});

const placeholders = { 'whsec_...': 'whsec_of_the_guide', 'rk_live_...': 'rk_live_of_the_guide' };
const curlsOf = (path: string) =>
  blocksOf(readDocument(path), 'sh').filter((block) => block.startsWith('curl '));
const paste = async (block: string | undefined) => JSON.parse(await pasted(block, { env, placeholders }));

test('the calls of docs/connections.md do what it says', async () => {
  const [connect, setSecret, list, setKey, makeCode, ...others] = curlsOf('docs/connections.md');
  expect(others).toEqual([]);
  const connection = await paste(connect);
  expect(connection).toMatchObject({ status: 'incomplete', webhook_url: expect.any(String) });
  env.CONNECTION = connection.id;
  expect(await paste(setSecret)).toMatchObject({ signing_secret_set: true });
  expect(await paste(list)).toEqual({ events: [], next_cursor: null });
  expect(await paste(setKey)).toMatchObject({ restricted_key_set: true });
  expect(await paste(makeCode)).toMatchObject({ code: 'ANNA20', promotion_code: { status: 'pending' } });
});

test('the calls of docs/fulfilment.md do what it says', async () => {
  const [webhook, balance, ...others] = curlsOf('docs/fulfilment.md');
  expect(others).toEqual([]);
  const { id, secret } = await paste(webhook);
  expect(secret).toMatch(/^whsec_/);
  // A program has one fulfilment.
  await fetch(`${env.API}/fulfilments/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${env.KEY}` },
  });
  expect(await paste(balance)).toMatchObject({ settings: { currency: 'usd', credit_value: 0.5 } });
});

test('the call of docs/moving-referrals.md sets the parameters of old links', async () => {
  const [change, ...others] = curlsOf('docs/moving-referrals.md');
  expect(others).toEqual([]);
  expect(await paste(change)).toMatchObject({ link_parameters: ['ref', 'via', 'fpr'] });
});

test('the call of docs/referrals.md about coupons gives a coupon', async () => {
  const block = curlsOf('docs/referrals.md').find((one) => one.includes('/coupons'));
  const body = block?.replace('ANNA20', 'ANNA30');
  expect(await paste(body)).toMatchObject({ code: 'ANNA30', promotion_code: null });
});

test('docs/moving-referrals.md names every column that no document of a program states', () => {
  const text = readDocument('docs/moving-referrals.md');
  for (const format of Object.values(REFERRAL_FORMATS)) {
    const listed = new RegExp(`^- \\*\\*${format.name}:\\*\\* ((?:.|\\n  )*)\\.$`, 'm').exec(text)?.[1] ?? '';
    const names = [...listed.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name);
    expect(names.toSorted(), format.name).toEqual(assumedColumns(format).toSorted());
  }
});
