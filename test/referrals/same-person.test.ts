import { describe, expect } from 'vitest';
import { apiTest as test } from '../support/fixtures.ts';
import { type Merchant, merchant, queuedEvents } from './support.ts';

let m: Merchant;

test.beforeEach(async ({ api, shop }) => {
  await api.stores.pool.query('DELETE FROM ingest_streams');
  m = merchant(shop);
});

const CREDITS = { credit_enabled: true, signup_credit: { free: 5 } };
const reason = async (user: string, fields: object) => (await m.signup(user, fields)).body.block_reason;
const earned = async (user: string) =>
  (await m.credits(`external_user_id=${user}`)).balance.credits?.earned ?? 0;

describe('one person under several user ids', () => {
  test('is rewarded once, whichever trait is the same, in any program', async ({ api, shop }) => {
    await m.program(CREDITS);
    const [r, s] = [await m.enroll('r'), await m.enroll('s')];
    const { id } = await m.program(CREDITS);
    const t = await m.enroll('t', { program_id: id });
    const visitor = crypto.randomUUID();
    const person = { ref_code: r.ref, email: 'jane.doe@gmail.com', device_id: 'd1', _vid: visitor };
    expect(await reason('n1', person)).toBeNull();
    expect(await reason('n2', { ref_code: r.ref, email: 'JaneDoe+x@googlemail.com' })).toBe(
      'duplicate_referee',
    );
    expect(await reason('n3', { ref_code: s.ref, device_id: 'd1' })).toBe('duplicate_referee');
    expect(await reason('n4', { ref_code: t.ref, _vid: visitor })).toBe('duplicate_referee');
    expect(await reason('n5', { ref_code: s.ref, email: 'other@gmail.com', device_id: 'd2' })).toBeNull();
    expect([await earned('r'), await earned('s'), await earned('t')]).toEqual([5, 5, 0]);
    expect((await m.purchase('n2', 'o1', 10)).body).toMatchObject({ reason: 'duplicate_referee' });
    const blocked = (await queuedEvents(api, shop)).filter(({ type }) => type === 'lead.blocked');
    expect(blocked.map(({ data }) => data.block_reason)).toEqual(Array(3).fill('duplicate_referee'));
  });

  test('is rewarded once when all sign up at the same time', async () => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        m.signup(`n${n}`, { ref_code: ref, email: `jane+${n}@mail.example` }),
      ),
    );
    expect(answers.filter(({ body }) => body.blocked === false)).toHaveLength(1);
    expect(await earned('r')).toBe(5);
  });
});

describe('two users who refer each other', () => {
  test('are rewarded once, also through others', async () => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    expect(await reason('b', { ref_code: a.ref })).toBeNull();
    expect(await reason('a', { ref_code: b.ref })).toBe('mutual_referral');
    const x = await m.enroll('x');
    expect(await reason('y', { ref_code: x.ref })).toBeNull();
    const y = await m.enroll('y');
    expect(await reason('z', { ref_code: y.ref })).toBeNull();
    const z = await m.enroll('z');
    expect(await reason('x', { ref_code: z.ref })).toBe('mutual_referral');
    expect((await m.purchase('x', 'o1', 10)).body).toMatchObject({ reason: 'mutual_referral' });
    expect(await reason('x2', { ref_code: z.ref })).toBeNull();
  });

  test('at the same time are rewarded once', async () => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    const answers = await Promise.all([
      m.signup('b', { ref_code: a.ref }),
      m.signup('a', { ref_code: b.ref }),
    ]);
    expect(answers.map(({ body }) => body.block_reason).toSorted()).toEqual(['mutual_referral', null]);
  });
});

test.each([
  ['another Unicode form', 'jose\u0301@mail.example', 'jos\u00e9@mail.example'],
  ['a zero-width space', 'r\u200b@mail.example', 'r@mail.example'],
  ['a punycode domain', 'r@xn--bcher-kva.example', 'r@b\u00fccher.example'],
])("the referrer's mailbox with %s is a self-referral", async (_, email, referrer) => {
  await m.program(CREDITS);
  const { ref } = await m.enroll('r', { email: referrer });
  expect(await reason('n', { ref_code: ref, email })).toBe('same_email');
  expect(await earned('r')).toBe(0);
});

test.each([
  ['spaces', (ref: string) => ` ${ref} `],
  ['a slash', (ref: string) => `${ref}/`],
  ['the whole link', (ref: string) => `https://hop.example/${ref}?utm_source=x`],
  ['the page behind it', (ref: string) => `https://shop.example/join?ref=${ref}`],
])('a ref_code with %s names the referrer', async (_, write) => {
  await m.program(CREDITS);
  const { ref, partner_id } = await m.enroll('r');
  expect((await m.signup('n', { ref_code: write(ref) })).body).toMatchObject({ matched: true, partner_id });
});
