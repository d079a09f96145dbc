import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { type ErrorBody, type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { makeDomain } from '../../test/support/domains.ts';
import { operator } from '../../test/support/hoplog.ts';
import { campaign, createLink, refusedLink } from '../../test/support/links.ts';
import type { DomainRecord } from './schemas.ts';

let api: TestApi;
let shop: TestWorkspace;
let rival: TestWorkspace;
let count = 0;
/** The host of the test. */
let host: string;

/** The origins of the deployment. */
const HOSTS = {
  SHORT_URL: 'https://hop.example',
  PUBLIC_URL: 'https://pages.hop.example',
  BASE_URL: 'https://api.hop.example',
  APP_URL: 'https://app.hop.example',
};

beforeAll(async () => {
  api = await testApi(() => ({ config: readConfig(HOSTS) }));
  shop = await api.addWorkspace();
  rival = await api.addWorkspace();
});
beforeEach(() => {
  host = `own${++count}.brand.example`;
});
afterAll(() => api.close());

const domainOf = (by: TestWorkspace, domain: string, status: 'verified' | 'pending' = 'verified') =>
  makeDomain(api.stores.pool, by.workspace.id, domain, { status });
const isDefault = async ({ id }: { id: string }) =>
  (await shop.get<DomainRecord>(`/domains/${id}`)).body.is_default;

test.each(Object.entries(HOSTS))('the host of %s is no domain of a workspace', async (_, origin) => {
  const { status, body } = await shop.post<ErrorBody>('/domains', { domain: new URL(origin).hostname });
  expect([status, body.error.details]).toEqual([
    400,
    [{ path: 'domain', message: 'must not be a host of this service' }],
  ]);
});

test('no address of a link or a domain leads back to a domain of the workspace', async () => {
  const one = await domainOf(shop, host);
  const back = `https://${host}/x`;
  const rule = { conditions: [{ type: 'country', operator: 'is', values: ['DE'] }], destination_url: back };
  const away = { id: 'b', destination_url: 'https://shop.example/b', weight: 1 };
  const ways: [path: string, fields: object][] = [
    ['destination_url', { destination_url: back }],
    ['targeting.ios', { targeting: { ios: back } }],
    ['targeting.desktop', { targeting: { desktop: `${back.toUpperCase()}` } }],
    ['rules.0.destination_url', { rules: [rule] }],
    ['split.1.destination_url', { split: [away, { id: 'a', destination_url: back, weight: 1 }] }],
    ['expired_redirect_url', { expired_redirect_url: back }],
  ];
  const { first: link } = await createLink(shop, campaign({ external: true }));
  for (const [path, fields] of ways) {
    await refusedLink(shop, campaign({ external: true, ...fields }), 400, path);
    const changed = await shop.patch<ErrorBody>(`/links/${link.id}`, fields);
    expect([changed.status, changed.body.error.details?.[0]?.path]).toEqual([400, path]);
    expect(changed.body.error.message).toContain('must not lead back to');
    const bulk = await shop.post<{ results: { status: number }[] }>('/links/bulk', {
      links: [
        campaign(fields),
        campaign({ destination_id: link.destination_id, external_id: `${host} ${path}`, ...fields }),
      ],
    });
    // A campaign that exists keeps its own destination.
    const joins = path === 'destination_url' ? 201 : 400;
    expect(bulk.body.results.map(({ status }) => status)).toEqual([400, joins]);
  }
  // The host of an app's address is not a machine.
  expect((await shop.patch(`/links/${link.id}`, { targeting: { ios: `myapp://${host}/x` } })).status).toBe(
    200,
  );

  const other = `other.${host}`;
  for (const field of ['root_url', 'not_found_url', 'expired_url']) {
    for (const url of [back, 'https://hop.example/x']) {
      const added = await shop.post<ErrorBody>('/domains', { domain: other, [field]: url });
      expect([added.status, added.body.error.details?.[0]?.path]).toEqual([400, field]);
      const changed = await shop.patch<ErrorBody>(`/domains/${one.id}`, { [field]: url });
      expect([changed.status, changed.body.error.details?.[0]?.path]).toEqual([400, field]);
    }
    expect(
      (await rival.post('/domains', { domain: `${field.replaceAll('_', '-')}.${other}`, [field]: back }))
        .status,
    ).toBe(201);
  }
});

test('the default domain is a setting of the workspace too', async () => {
  const [one, two] = [await domainOf(shop, host), await domainOf(shop, `two.${host}`)];
  const set = (default_domain: string | null) =>
    shop.patch<{ default_domain: string | null }>('/workspace', { default_domain });
  expect((await set(one.domain.toUpperCase())).body.default_domain).toBe(one.domain);
  expect((await createLink(shop, campaign())).first.domain).toBe(one.domain);
  expect((await set(two.domain)).body.default_domain).toBe(two.domain);
  expect(await Promise.all([one, two].map(isDefault))).toEqual([false, true]);
  const waiting = await domainOf(shop, `three.${host}`, 'pending');
  const foreign = await domainOf(rival, `four.${host}`);
  for (const { domain } of [waiting, foreign]) {
    const refused = await shop.patch<ErrorBody>('/workspace', { default_domain: domain });
    expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, 'default_domain']);
  }
  expect((await shop.get<{ default_domain: string | null }>('/workspace')).body.default_domain).toBe(
    two.domain,
  );
  expect((await set(null)).body.default_domain).toBeNull();
  expect((await createLink(shop, campaign())).first.domain).toBeNull();
  const free = await api.addWorkspace({ plan: 'free' });
  expect((await free.patch('/workspace', { default_domain: null })).status).toBe(402);
  expect((await free.patch('/workspace', { payout_hold_days: 4 })).status).toBe(200);
});

test('the operator verifies a domain without its record, also one that another workspace has', async () => {
  const cli = operator(api.stores);
  const verify = (by: TestWorkspace, ...args: string[]) =>
    cli.run('domain', 'verify', '--workspace', by.workspace.id, ...args, '--json');
  const [ours, theirs] = [await domainOf(shop, host), await domainOf(rival, host, 'pending')];
  const forced = await verify(rival, '--force', host.toUpperCase());
  expect([forced.status, JSON.parse(forced.stdout).domain]).toEqual([
    0,
    expect.objectContaining({ id: theirs.id, status: 'verified', problem: null }),
  ]);
  expect((await shop.get<DomainRecord>(`/domains/${ours.id}`)).body.status).toBe('pending');
  const { rows } = await api.stores.pool.query(
    `SELECT details FROM audit_entries WHERE workspace_id = $1 AND action = 'domain.verify'`,
    [rival.workspace.id],
  );
  expect(rows).toEqual([{ details: { force: true } }]);
  const unknown = await verify(rival, '--force', 'unknown.brand.example');
  expect([unknown.status, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('has no domain "unknown.brand.example"'),
  ]);
});
