import { expect } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest } from '../../test/support/fixtures.ts';
import { campaign, createLink, refusedLink } from '../../test/support/links.ts';

type Rule = { id: string; name?: string; conditions: object[]; destination_url: string };
type Link = {
  id: string;
  destination_id: string;
  rules: Rule[] | null;
  split: { id: string; weight: number }[] | null;
  split_ends_at: string | null;
  split_goal: string | null;
  split_winner: string | null;
  targeting: object | null;
};

const german = { type: 'language', operator: 'is', values: ['DE'] };
const rule = (more: object = {}) => ({
  conditions: [german],
  destination_url: 'https://shop.example/de',
  ...more,
});
const split = ['a', 'b'].map((id) => ({ id, destination_url: `https://shop.example/${id}`, weight: 50 }));

const made = async (shop: TestWorkspace, more: object) =>
  (await createLink(shop, campaign(more))).first as unknown as Link;
const patch = (shop: TestWorkspace, id: string, body: object) =>
  shop.call<Link>('PATCH', `/links/${id}`, { body });
const refusedChange = async (shop: TestWorkspace, id: string, body: object) => {
  const { status, body: answer } = await shop.call<{ error: { details: { path: string }[] } }>(
    'PATCH',
    `/links/${id}`,
    { body },
  );
  return [status, answer.error.details?.[0]?.path];
};

apiTest(
  'a rule gets an id, keeps it when the record is sent back, and its values one spelling',
  async ({ shop }) => {
    const link = await made(shop, { rules: [rule({ name: 'German' }), rule({ id: 'mine' })] });
    expect(link.rules).toEqual([
      {
        id: expect.stringMatching(/^[1-9A-Za-z]{7}$/),
        name: 'German',
        conditions: [{ ...german, values: ['de'] }],
        destination_url: 'https://shop.example/de',
      },
      { id: 'mine', conditions: [{ ...german, values: ['de'] }], destination_url: 'https://shop.example/de' },
    ]);
    const { body } = await patch(shop, link.id, { rules: [...(link.rules ?? [])].reverse() });
    expect(body.rules).toEqual([...(link.rules ?? [])].reverse());
    expect((await shop.get<Link>(`/links/${link.id}`)).body).toEqual(body);
    expect((await patch(shop, link.id, { rules: [] })).body.rules).toBeNull();
  },
);

apiTest.for([
  [{ rules: [rule({ conditions: [] })] }, 'rules.0.conditions'],
  [{ rules: [rule({ condition: [] })] }, 'rules.0.condition'],
  [{ rules: [rule({ conditions: [{ ...german, value: 'de' }] })] }, 'rules.0.conditions.0.value'],
  [{ rules: [rule({ conditions: [{ ...german, type: 'planet' }] })] }, 'rules.0.conditions.0.type'],
  [{ rules: [rule({ conditions: [{ ...german, values: 'de' }] })] }, 'rules.0.conditions.0.values'],
  [{ rules: [rule({ id: 'x' }), rule({ id: 'x' })] }, 'rules.1.id'],
  [{ rules: [rule({ destination_url: 'ftp://shop.example' })] }, 'rules.0.destination_url'],
  [{ rules: [rule({ destination_url: undefined })] }, 'rules.0.destination_url'],
  [{ rules: Array.from({ length: 21 }, () => rule()) }, 'rules'],
  [{ split: split.slice(1) }, 'split'],
  [{ split: [{ ...split[0], weight: 1.5 }, split[1]] }, 'split.0.weight'],
  [{ split, split_ends_at: '2026-12-01' }, 'split_goal'],
  [{ split, split_ends_at: '2026-12-01', split_goal: 'clicks' }, 'split_goal'],
  [{ split_ends_at: '2026-12-01', split_goal: 'leads' }, 'split_ends_at'],
  [{ targeting: { ios: 'javascript://x/%0aalert(1)' } }, 'targeting.ios'],
  [{ targeting: { mobile: 'myapp://x' } }, 'targeting.mobile'],
] as const)(
  '%j is refused by a create and by a change, at the field %s',
  async ([fields, path], { shop }) => {
    await refusedLink(shop, campaign(fields), 400, path);
    const link = await made(shop, {});
    expect(await refusedChange(shop, link.id, fields)).toEqual([400, path]);
  },
);

apiTest('a field that may be null says so among its values', async ({ shop }) => {
  const { body } = await patch(shop, (await made(shop, {})).id, { split_goal: '' });
  expect(body).toMatchObject({
    error: {
      details: [{ path: 'split_goal', message: 'must be one of leads, conversions, revenue, null' }],
    },
  });
});

apiTest('a new link of a campaign inherits rules and split, not the winner', async ({ api, shop }) => {
  const settings = {
    rules: [rule({ id: 'x' })],
    split,
    split_ends_at: '2026-12-01T00:00:00.000Z',
    split_goal: 'leads',
  };
  const first = await made(shop, settings);
  await api.stores.pool.query("UPDATE links SET split_winner = 'b' WHERE id = $1", [first.id]);
  const { links } = await createLink(shop, { destination_id: first.destination_id, channel: 'x' });
  const second = links[0] as unknown as Link;
  const decided = ({ rules, split, split_ends_at, split_goal, split_winner }: Link) => ({
    rules,
    split,
    split_ends_at,
    split_goal,
    split_winner,
  });
  expect(decided(second)).toEqual({ ...decided(first), split_winner: null });
  const { body } = await shop.get<Link>(`/links/${first.id}`);
  expect(body.split_winner).toBe('b');
});

apiTest(
  'a changed split has no winner yet, another change keeps it, and a cleared split clears its end',
  async ({ api, shop }) => {
    const link = await made(shop, {
      split,
      split_ends_at: '2026-12-01T00:00:00.000Z',
      split_goal: 'revenue',
    });
    const decide = () =>
      api.stores.pool.query("UPDATE links SET split_winner = 'b' WHERE id = $1", [link.id]);
    await decide();
    expect((await patch(shop, link.id, { max_clicks: 5 })).body.split_winner).toBe('b');
    expect((await patch(shop, link.id, { split_goal: 'leads' })).body.split_winner).toBeNull();
    await decide();
    const { body } = await patch(shop, link.id, { split: null });
    expect([body.split, body.split_ends_at, body.split_goal, body.split_winner]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  },
);

apiTest('an empty list of rules or variants is none', async ({ shop }) => {
  const link = await made(shop, { rules: [], split: [] });
  expect([link.rules, link.split]).toEqual([null, null]);
  await patch(shop, link.id, { rules: [rule()], split });
  const { body } = await patch(shop, link.id, { rules: [], split: [] });
  expect([body.rules, body.split]).toEqual([null, null]);
});

apiTest('targeting takes apps of a system', async ({ shop }) => {
  const targeting = { ios: 'myapp://product/17', android: 'intent://product/17#Intent;scheme=myapp;end' };
  expect((await made(shop, { targeting })).targeting).toEqual(targeting);
});

apiTest('a number that an app calls may have blanks, as that of a button', async ({ shop }) => {
  const targeting = { ios: 'tel:+49 30 12', android: 'sms:+49 30 12?body=Hi there' };
  const onIos = {
    conditions: [{ type: 'os', operator: 'is', values: ['ios'] }],
    destination_url: 'tel:+49\u00a030 12',
  };
  const link = await made(shop, { targeting, rules: [onIos] });
  expect(link.targeting).toEqual({ ios: 'tel:+493012', android: 'sms:+493012?body=Hi%20there' });
  expect(link.rules?.[0]?.destination_url).toBe('tel:+493012');
});
