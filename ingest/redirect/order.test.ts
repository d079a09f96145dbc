import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword, LINK_COST } from '../../core/access/passwords.ts';
import {
  type LinkColumns,
  makeLink,
  makeWorkspace,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { BROWSER, PHONE, PREVIEW, visit } from '../../test/support/visitors.ts';

/** The order of decisions in docs/links.md is the code's: each step is tried on a link that has all later ones too. */

let stores: TestStores;
let ingest: TestIngest;
let workspaceId: string;

beforeAll(async () => {
  stores = await testStores();
  workspaceId = (await makeWorkspace(stores.pool)).id;
  ingest = await startTestIngest(stores);
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

const at = (name: string) => `https://example.com/${name}`;
const password_hash = await hashPassword('open', LINK_COST);

type Columns = LinkColumns & { blocked_at?: Date };

type Step = {
  /** How the step's line in the document begins. */
  name: string;
  columns?: Columns;
  path?: string;
  /** What the visitor gets: a status, and a part of the destination or of the page. */
  gets: readonly [number, string];
};

/** Steps before the destination, in order. */
const REFUSALS: Step[] = [
  { name: 'path behind the slug', path: '/more', gets: [404, 'Link not found'] },
  { name: 'blocked', columns: { blocked_at: new Date() }, gets: [410, 'Link blocked'] },
  {
    name: 'starts_at',
    columns: { starts_at: new Date(Date.now() + 3_600_000) },
    gets: [404, 'Link not found'],
  },
  {
    name: 'expires_at',
    columns: { expires_at: new Date(Date.now() - 1), expired_redirect_url: at('expired') },
    gets: [302, at('expired')],
  },
  {
    name: 'max_clicks',
    columns: { max_clicks: 1, expired_redirect_url: at('used-up') },
    gets: [302, at('used-up')],
  },
  { name: 'password', columns: { password_hash }, gets: [200, 'Password required'] },
];

/** Steps that decide the destination. */
const DECISIONS: Step[] = [
  {
    name: 'rules',
    columns: {
      rules: JSON.stringify([
        {
          id: 'all',
          conditions: [{ type: 'time', after: '2020-01-01T00:00:00Z' }],
          destination_url: at('rule'),
        },
      ]),
    },
    gets: [307, at('rule')],
  },
  { name: 'targeting', columns: { targeting: { mobile: at('mobile') } }, gets: [307, at('mobile')] },
  {
    name: 'split',
    columns: {
      split: JSON.stringify(['a', 'b'].map((id) => ({ id, weight: 1, destination_url: at('variant') }))),
    },
    gets: [307, at('variant')],
  },
  { name: 'destination_url', gets: [307, at('own')] },
];

/** Steps that say how the visitor gets there. */
const RESPONSES: Step[] = [
  { name: 'preview', columns: { preview: { title: 'The card' } }, gets: [200, 'og:title'] },
  { name: 'retargeting', columns: { retargeting: { facebook: '1234567890' } }, gets: [200, 'data-to='] },
  { name: 'redirect_status', columns: { redirect_status: 307 }, gets: [307, at('own')] },
];

const ALL = [...REFUSALS, ...DECISIONS, ...RESPONSES];

test('the document names the steps in the order of these tests', () => {
  const text = readFileSync(new URL('../../docs/links.md', import.meta.url), 'utf8');
  const drawn = /```text\n GET[^`]*```/.exec(text)?.[0] ?? '';
  const lines = [...drawn.matchAll(/[├└┌]─ ([^─▶]+?) *(?:─|▶)/g)].map(([, line]) => line);
  expect(lines.map((line, nth) => line?.startsWith(ALL[nth]?.name ?? '?'))).toEqual(ALL.map(() => true));
});

/** Makes a link that has all of these steps; the earlier ones win where two set the same column. */
function linkWith(steps: readonly Step[]) {
  const columns: Columns = Object.assign({}, ...steps.toReversed().map((step) => step.columns));
  const given = { channel: 'newsletter', redirect_status: 307, ...columns };
  return makeLink(stores.pool, workspaceId, at('own'), given);
}

async function got(slug: string, step: Step, agent: string): Promise<[number, boolean]> {
  const answer = await visit(`${ingest.url}/${slug}${step.path ?? ''}`, { headers: { 'user-agent': agent } });
  return [answer.status, `${answer.location?.href ?? ''} ${answer.body}`.includes(step.gets[1])];
}

const REFUSED = REFUSALS.filter(({ name }) => name !== 'max_clicks');

test.each(REFUSED.map((step) => [step.name, step] as const))(
  '%s comes before all that follow',
  async (_, step) => {
    const { slug } = await linkWith(ALL.slice(ALL.indexOf(step)));
    expect(await got(slug, step, PREVIEW)).toEqual([step.gets[0], true]);
  },
);

test('max_clicks that are used up come before all that follow', async () => {
  const used = REFUSALS.find(({ name }) => name === 'max_clicks') as Step;
  const { id, slug } = await linkWith([used, ...DECISIONS]);
  const leadsTo = (name: string) => () => got(slug, { ...used, gets: [302, at(name)] }, BROWSER);
  // A start gives no permit before it has read how many the last run spent.
  await expect.poll(async () => (await visit(`${ingest.url}/${slug}`)).status).toBe(307);
  await expect.poll(leadsTo('used-up')).toEqual([302, true]);
  // Once the other address works, ingest has read the password too.
  await stores.pool.query('UPDATE links SET password_hash = $2, expired_redirect_url = $3 WHERE id = $1', [
    id,
    password_hash,
    at('changed'),
  ]);
  await expect.poll(leadsTo('changed')).toEqual([302, true]);
});

test.each(DECISIONS.map((step, nth) => [step.name, step, DECISIONS.slice(nth)] as const))(
  '%s decides before all that follow',
  async (_, step, steps) => {
    const { slug } = await linkWith(steps);
    expect(await got(slug, step, PHONE)).toEqual([step.gets[0], true]);
  },
);

test.each(RESPONSES.map((step, nth) => [step.name, step, RESPONSES.slice(nth)] as const))(
  '%s responds before all that follow',
  async (name, step, steps) => {
    const { slug } = await linkWith(steps);
    expect(await got(slug, step, name === 'preview' ? PREVIEW : BROWSER)).toEqual([step.gets[0], true]);
  },
);
