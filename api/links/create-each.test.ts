import fc from 'fast-check';
import { expect } from 'vitest';
import type { ErrorBody, TestApi, TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { NIGHTLY } from '../../test/support/nightly.ts';
import type { LinkRecord } from './schemas.ts';

type Answer = {
  status: number;
  body: { links?: LinkRecord[]; destination_id?: string } & Partial<ErrorBody>;
};
type Row = Record<string, unknown>;

/** A workspace with existing names and a capped plan, for random creates. */
type Desk = {
  shop: TestWorkspace;
  campaignId: string;
  folderId: string;
  /** Slugs are unique in the deployment, so this prefix separates the desks. */
  prefix: string;
};

let desks = 0;

async function openDesk(api: TestApi, plan: 'free' | 'unlimited', links: number): Promise<Desk> {
  const shop = await api.addWorkspace({ plan });
  desks += 1;
  const prefix = `d${desks}-`;
  const external = { destination_url: 'https://elsewhere.example', name: 'Here', external: true };
  const { body } = await shop.post<Required<Answer['body']>>('/links', {
    ...external,
    channel: 'x',
    slug: `${prefix}a`,
    external_id: 'a',
  });
  const more = Array.from({ length: links - 1 }, () => ({ ...external, channel: 'x' }));
  if (more.length > 0) await shop.post('/links/bulk', { links: more });
  const folder = await shop.post<{ id: string }>('/folders', { name: 'F' });
  return { shop, campaignId: body.destination_id, folderId: folder.body.id, prefix };
}

/** Generates a value in few of many rows. */
const seldom = <T>(...of: T[]) => fc.option(fc.constantFrom(...of), { freq: 3 });

const rows = fc.array(
  fc.record({
    to: fc.constantFrom('https://shop.example', 'https://www.shop.example/1', 'https://other.example'),
    into: fc.constantFrom('new', 'new', 'new', 'new', 'new', 'new', 'campaign', 'nowhere'),
    channels: fc.constantFrom(['x'], ['x', 'slack'], [null]),
    external: fc.constantFrom(true, true, false),
    slug: fc.option(fc.constantFrom('a', 'b', 'B', 'c', 'd', 'b-x'), { freq: 2 }),
    externalId: fc.option(fc.constantFrom('a', 'b', 'c'), { freq: 2 }),
    folder: seldom('there', 'there', 'gone'),
    max_clicks: seldom(0, 5),
  }),
  { minLength: 1, maxLength: 16 },
);
type Given = typeof rows extends fc.Arbitrary<(infer One)[]> ? One : never;

function rowAt(desk: Desk, given: Given): Row {
  const { channels, slug, externalId, folder } = given;
  return {
    ...(given.into === 'new' && { destination_url: given.to, name: 'N', external: given.external }),
    ...(given.into === 'campaign' && { destination_id: desk.campaignId }),
    ...(given.into === 'nowhere' && { destination_id: '01a1fda0-08a1-7000-b1c0-3017c3a6f7c2' }),
    ...(channels[0] === null ? { smart: true } : { channels }),
    ...(slug !== null && { slug: desk.prefix + slug }),
    ...(externalId !== null && { external_id: externalId }),
    ...(folder !== null && {
      folder_id: folder === 'there' ? desk.folderId : '01a1fda0-08a1-7000-b1c0-3017c3a6f7c2',
    }),
    ...(given.max_clicks !== null && { max_clicks: given.max_clicks }),
  };
}

/**
 * Returns a response without the parts that differ between desks: ids, times and the desk's own slugs. Links are named
 * by their age.
 */
function plain({ prefix }: Desk, ages: string[], { status, body }: Answer) {
  const links = body.links?.map(
    ({ id, slug, channel, external_id, destination, external, utm_campaign }) => ({
      nth: ages.indexOf(id),
      slug: slug.startsWith(prefix) ? slug.slice(prefix.length) : 'random',
      ...{ channel, external_id, destination, external, utm_campaign },
    }),
  );
  return { status, links, code: body.error?.code, message: body.error?.message?.replaceAll(prefix, '') };
}

async function linksByAge(api: TestApi, { shop }: Desk): Promise<string[]> {
  const { rows: links } = await api.stores.pool.query<{ id: string }>(
    'SELECT id FROM links WHERE workspace_id = $1 ORDER BY created_at',
    [shop.workspace.id],
  );
  return links.map(({ id }) => id);
}

async function outcome(api: TestApi, desk: Desk, answers: Answer[]) {
  const ages = await linksByAge(api, desk);
  const { rows: left } = await api.stores.pool.query(
    `SELECT (SELECT count(*) FROM destinations WHERE workspace_id = $1) AS campaigns,
            (SELECT count(*) FROM slugs WHERE workspace_id = $1) AS slugs,
            (SELECT primary_domain FROM workspaces WHERE id = $1) AS domain`,
    [desk.shop.workspace.id],
  );
  return { answers: answers.map((answer) => plain(desk, ages, answer)), links: ages.length, left };
}

test.for([
  ['in a workspace', 'unlimited', 1],
  ['near the cap of its plan', 'free', 20],
] as const)(
  'rows created together %s have the outcomes of creates one after the other',
  async ([_, plan, links], { api }) => {
    const same = fc.asyncProperty(rows, async (given) => {
      const [one, all] = [await openDesk(api, plan, links), await openDesk(api, plan, links)];
      const answers: Answer[] = [];
      for (const row of given) answers.push(await one.shop.post('/links', rowAt(one, row)));
      const { body } = await all.shop.post<{ results: Answer[] }>('/links/bulk', {
        links: given.map((row) => rowAt(all, row)),
      });
      expect(await outcome(api, all, body.results)).toEqual(await outcome(api, one, answers));
    });
    await fc.assert(same, { numRuns: NIGHTLY ? 60 : 15 });
  },
);
