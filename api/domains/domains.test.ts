import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTxtLookup } from '../../core/dns/txt-records.ts';
import { createLogger } from '../../core/tier/log.ts';
import { domainsToCheck, recordCheck } from '../../sql/domains/record-check.ts';
import { type ErrorBody, type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { startDns, type TestDns } from '../../test/support/dns-server.ts';
import { makeDomain } from '../../test/support/domains.ts';
import { campaign, createLink, refusedLink } from '../../test/support/links.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import { checkDomains } from '../../workers/jobs/check-domains.ts';
import type { DomainRecord } from './schemas.ts';

type BioPage = { url: string; links: { url: string; short_url: string | null }[] };

let dns: TestDns;
let api: TestApi;
let shop: TestWorkspace;
let rival: TestWorkspace;
let count = 0;
/** The host of the test. */
let host: string;

beforeAll(async () => {
  dns = await startDns();
  const lookUpTxt = createTxtLookup([dns.address]);
  api = await testApi(() => ({ lookUpTxt }));
  shop = await api.addWorkspace();
  rival = await api.addWorkspace();
});
beforeEach(() => {
  host = `go${++count}.brand.example`;
});
afterAll(async () => {
  await api?.close();
  await dns?.close();
});

async function added(by = shop, domain = host): Promise<DomainRecord> {
  const { status, body, text } = await by.post<DomainRecord>('/domains', { domain });
  expect([status, text]).toEqual([201, text]);
  return body;
}
/** Sets the record that proves the domain, and removes other records of its name. */
const publish = ({ verification }: DomainRecord) => dns.txt.set(verification.name, [verification.value]);
const verify = async (domain: DomainRecord, by = shop) =>
  (await by.post<DomainRecord>(`/domains/${domain.id}/verify`)).body;
const shown = async ({ id }: DomainRecord, by = shop) => (await by.get<DomainRecord>(`/domains/${id}`)).body;
async function verified(by = shop, domain = host): Promise<DomainRecord> {
  const made = await added(by, domain);
  publish(made);
  const now = await verify(made, by);
  expect(now.status).toBe('verified');
  return now;
}
/** Checks every domain that is due, as the workers do. */
async function runJob(now: Date): Promise<void> {
  const { pool } = api.stores;
  const lookUpTxt = createTxtLookup([dns.address]);
  while (await checkDomains({ pool, lookUpTxt, log: createLogger('test', 'silent') }, now));
}
const daysFrom = (instant: string | null, days: number) =>
  new Date(Date.parse(instant ?? '') + days * 86_400_000);
const failures = async () => {
  const { rows } = await api.stores.pool.query<{ domain: string; status: string }>(
    `SELECT data ->> 'domain' AS domain, data ->> 'status' AS status FROM webhook_outbox WHERE type = 'domain.failing'`,
  );
  return rows.filter(({ domain }) => domain === host);
};

test('a domain shows the record to set, what the last check found, and is verified once it is there', async () => {
  const domain = await added();
  expect(domain).toEqual({
    id: expect.any(String),
    domain: host,
    status: 'pending',
    is_default: false,
    root_url: null,
    not_found_url: null,
    expired_url: null,
    apple_app_site_association: null,
    assetlinks: null,
    verification: {
      type: 'TXT',
      name: `_hoplog.${host}`,
      value: expect.stringMatching(/^hoplog-verification=[0-9a-f]{40}$/),
    },
    verified_at: null,
    last_checked_at: null,
    problem: null,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  const name = domain.verification.name;
  expect(await verify(domain)).toMatchObject({
    status: 'pending',
    problem: `the TXT record ${name} is missing`,
  });
  dns.txt.set(name, ['v=spf1 -all', 'hoplog-verification=0']);
  const other = `the TXT record ${name} has another value: v=spf1 -all, hoplog-verification=0`;
  expect(await verify(domain)).toMatchObject({ status: 'pending', problem: other });
  dns.fail(true);
  const unavailable = `no answer from DNS for the TXT record ${name}`;
  expect(await verify(domain)).toMatchObject({ status: 'pending', problem: unavailable });
  dns.fail(false);
  dns.txt.set(name, ['v=spf1 -all', domain.verification.value]);
  const proven = await verify(domain);
  expect(proven).toMatchObject({ status: 'verified', problem: null });
  expect(proven.verified_at).toBe(proven.last_checked_at);
  const listed = await shop.get<{ domains: DomainRecord[] }>('/domains?limit=1');
  expect(listed.body.domains).toEqual([proven]);
});

test('the job checks a new domain each minute, an older one each day, and verifies it', async () => {
  const domain = await added();
  const createdAt = Date.parse(domain.created_at);
  const due = async (ms: number) =>
    (await domainsToCheck(api.stores.pool, new Date(createdAt + ms), 1_000)).some(
      ({ id }) => id === domain.id,
    );
  await runJob(new Date(createdAt));
  expect([await due(59_000), await due(60_000)]).toEqual([false, true]);
  await runJob(daysFrom(domain.created_at, 2));
  expect([await due(3 * 86_400_000 - 1_000), await due(3 * 86_400_000)]).toEqual([false, true]);
  publish(domain);
  await runJob(daysFrom(domain.created_at, 3));
  expect(await shown(domain)).toMatchObject({ status: 'verified', problem: null });
});

test('a domain whose record is gone for three days is failing, and verified once it is back', async () => {
  const domain = await verified();
  const checkedAt = domain.last_checked_at;
  dns.txt.delete(domain.verification.name);
  await runJob(daysFrom(checkedAt, 1));
  expect(await shown(domain)).toMatchObject({
    status: 'verified',
    problem: expect.stringContaining('is missing'),
  });
  dns.fail(true);
  await runJob(daysFrom(checkedAt, 4.5));
  // Without a response from DNS, nothing is known about the record.
  expect((await shown(domain)).status).toBe('verified');
  expect(await failures()).toEqual([]);
  dns.fail(false);
  await runJob(daysFrom(checkedAt, 5.5));
  expect(await shown(domain)).toMatchObject({ status: 'failing', verified_at: domain.verified_at });
  await runJob(daysFrom(checkedAt, 7));
  expect(await failures()).toEqual([{ domain: host, status: 'failing' }]);
  publish(domain);
  await runJob(daysFrom(checkedAt, 9));
  expect(await shown(domain)).toMatchObject({ status: 'verified', problem: null });
  // After the record was back, the next gap starts at zero.
  dns.txt.delete(domain.verification.name);
  await runJob(daysFrom(checkedAt, 11));
  expect((await shown(domain)).status).toBe('verified');
});

test('a verified domain is refused to others, and a failing one goes to who proves it, without any names', async () => {
  const waiting = await added(rival);
  const ours = await verified();
  const refusal = await rival.post<ErrorBody>('/domains', { domain: host });
  expect([refusal.status, refusal.body.error.message]).toEqual([409, `the workspace has ${host} already`]);
  const third = await api.addWorkspace();
  const taken = await third.post<ErrorBody>('/domains', { domain: host.toUpperCase() });
  expect([taken.status, taken.body.error.message]).toEqual([409, `another workspace has verified ${host}`]);
  // Both records are there: the verified one keeps it.
  dns.txt.set(ours.verification.name, [ours.verification.value, waiting.verification.value]);
  expect(await verify(waiting, rival)).toMatchObject({
    status: 'pending',
    problem: expect.stringContaining('another workspace has verified this domain'),
  });
  await shop.patch(`/domains/${ours.id}`, { is_default: true });
  const { first, destination_id } = await createLink(
    shop,
    campaign({ slug: 'sale', domain: host, external: true }),
  );
  expect(first.short_url).toBe(`https://${host}/sale`);
  dns.txt.set(ours.verification.name, [waiting.verification.value]);
  await recordCheck(api.stores.pool, ours.id, { kind: 'records', values: [] }, new Date(0));
  await recordCheck(
    api.stores.pool,
    ours.id,
    { kind: 'records', values: [] },
    daysFrom(new Date(0).toISOString(), 3),
  );
  expect((await shown(ours)).status).toBe('failing');
  expect((await verify(waiting, rival)).status).toBe('verified');
  expect(await shown(ours)).toMatchObject({
    status: 'pending',
    is_default: false,
    verified_at: null,
    problem: 'another workspace has proven this domain',
  });
  // The domain of the campaign's newest link is not inherited, because it belongs to the other workspace now.
  expect((await createLink(shop, { destination_id, channel: 'reddit' })).first.domain).toBeNull();
  const theirs = await createLink(rival, campaign({ slug: 'sale', domain: host, external: true }));
  expect(theirs.first.short_url).toBe(`https://${host}/sale`);
  expect(await refusedLink(shop, campaign({ domain: host, external: true }), 400, 'domain')).toBe(
    'bad_request',
  );
});

test('the operator gives a domain to a workspace without a record, and from another workspace', async () => {
  const ours = await verified();
  const { pool } = api.stores;
  const { id } = await makeDomain(pool, rival.workspace.id, host, { status: 'pending' });
  const forced = await recordCheck(pool, id, 'forced', new Date());
  expect(forced?.status).toBe('verified');
  expect((await shown(ours)).status).toBe('pending');
});

test('of two workspaces that prove one domain at once, exactly one has it', async () => {
  for (let round = 0; round < 5; round++) {
    const domain = `race${round}.${host}`;
    const both = [await added(shop, domain), await added(rival, domain)];
    dns.txt.set(
      `_hoplog.${domain}`,
      both.map(({ verification }) => verification.value),
    );
    const answers = await Promise.all([
      shop.post<DomainRecord>(`/domains/${both[0]?.id}/verify`),
      rival.post<DomainRecord>(`/domains/${both[1]?.id}/verify`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const statuses = answers.map(({ body }) => body.status).toSorted();
    expect(statuses).toEqual(['pending', 'verified']);
    const [loser] = answers.filter(({ body }) => body.status === 'pending');
    expect(loser?.body.problem).toContain('another workspace has verified');
  }
});

test.each([
  ['https://go.brand.example', 'must be a host name'],
  ['go.brand.example:8080', 'must be a host name'],
  ['go.brand.example/sale', 'must be a host name'],
  ['go.brand.example?x', 'must be a host name'],
  ['go.brand.example#x', 'must be a host name'],
  ['go.\tbrand.example', 'must be a host name'],
  ['user@go.brand.example', 'must be a host name'],
  ['go_x.brand.example', 'must be a host name'],
  ['192.0.2.1', 'must be a host name'],
  ['[2001:db8::1]', 'must be a host name'],
  ['example', 'must not be a public suffix'],
  ['com', 'must not be a public suffix'],
  ['co.uk', 'must not be a public suffix'],
  ['github.io', 'must not be a public suffix'],
  ['shop.localhost', 'must not end with .localhost'],
  ['printer.local', 'must not end with .local'],
  ['db.internal', 'must not end with .internal'],
  ['x.invalid', 'must not end with .invalid'],
  ['hop.example', 'must not be a host of this service'],
])('%s is no domain of a workspace', async (domain, message) => {
  const { status, body } = await shop.post<ErrorBody>('/domains', { domain });
  expect([status, body.error.details?.[0]]).toEqual([
    400,
    { path: 'domain', message: expect.stringContaining(message) },
  ]);
});

test('an international name is stored in punycode, and the longest has 245 characters', async () => {
  expect((await added(shop, `Grüße.${host}.`)).domain).toBe(`xn--gre-6ka8l.${host}`);
  const label = 'a'.repeat(60);
  const longest = `${label}.${label}.${label}.${'b'.repeat(245 - 3 * 61 - host.length - 1)}.${host}`;
  expect((await added(shop, longest)).domain).toBe(longest);
  expect((await shop.post('/domains', { domain: `b${longest}` })).status).toBe(400);
});

test('addresses and app files are validated, changed and cleared', async () => {
  const domain = await verified();
  const files = {
    apple_app_site_association: { applinks: { details: [] } },
    assetlinks: [{ relation: ['x'] }],
  };
  const urls = {
    root_url: 'https://brand.example/',
    not_found_url: 'http://brand.example/404',
    expired_url: 'https://brand.example/over',
  };
  const changed = await shop.patch<DomainRecord>(`/domains/${domain.id}`, { ...files, ...urls });
  expect(changed.body).toMatchObject({ ...files, ...urls, status: 'verified' });
  const cleared = await shop.patch<DomainRecord>(`/domains/${domain.id}`, {
    root_url: null,
    assetlinks: null,
  });
  expect(cleared.body).toMatchObject({ root_url: null, assetlinks: null, expired_url: urls.expired_url });
  for (const [field, value] of [
    ['root_url', 'javascript:alert(1)'],
    ['not_found_url', 'https://example'],
    ['expired_url', 'https://www.https://x.example'],
    ['not_found_url', `https://${host}/again`],
    ['expired_url', 'https://user@brand.example/'],
    ['assetlinks', [{ long: 'x'.repeat(131_072) }]],
    ['apple_app_site_association', 'text'],
    // Each file is sent in the other's field.
    ['apple_app_site_association', files.assetlinks],
    ['assetlinks', files.apple_app_site_association],
  ] as const) {
    const { status, body } = await shop.patch<ErrorBody>(`/domains/${domain.id}`, { [field]: value });
    expect([field, status, body.error.details?.[0]?.path]).toEqual([field, 400, field]);
  }
});

test('links are made on the default domain unless they name another, and a slug is free on each', async () => {
  const workspace = await api.addWorkspace();
  const create = (more: object) => createLink(workspace, campaign({ ...more, external: true }));
  const domain = await added(workspace);
  expect((await workspace.patch(`/domains/${domain.id}`, { is_default: true })).status).toBe(409);
  expect(await refusedLink(workspace, campaign({ domain: host }), 400, 'domain')).toBe('bad_request');
  publish(domain);
  await verify(domain, workspace);
  expect((await create({ slug: `one-${count}` })).first).toMatchObject({
    domain: null,
    short_url: `https://hop.example/one-${count}`,
  });
  await workspace.patch(`/domains/${domain.id}`, { is_default: true });
  const own = await create({ slug: `one-${count}` });
  expect(own.first).toMatchObject({ domain: host, short_url: `https://${host}/one-${count}` });
  expect(await refusedLink(workspace, campaign({ slug: `ONE-${count}`, external: true }), 409)).toBe(
    'conflict',
  );
  expect((await create({ domain: null })).first.domain).toBeNull();
  // A campaign's links follow its newest.
  const there = await create({ destination_id: own.destination_id, channel: 'x' });
  expect(there.first.domain).toBe(host);
  await create({ destination_id: own.destination_id, channel: 'reddit', domain: null });
  expect((await create({ destination_id: own.destination_id, channel: 'slack' })).first.domain).toBeNull();
  const bulk = await workspace.post<{ results: { status: number; body: { links: { domain: string }[] } }[] }>(
    '/links/bulk',
    {
      links: [
        campaign({ slug: 'row', external: true, name: 'a' }),
        campaign({ slug: 'row', external: true, name: 'b', domain: null }),
        campaign({ slug: 'row', external: true, name: 'c', domain: 'nobody.example' }),
        campaign({ slug: 'Row', external: true, name: 'd', domain: host }),
      ],
    },
  );
  expect(bulk.body.results.map(({ status }) => status)).toEqual([201, 201, 400, 409]);
  expect(bulk.body.results[0]?.body.links[0]?.domain).toBe(host);
  const second = await verified(workspace, `second.${host}`);
  await workspace.patch(`/domains/${second.id}`, { is_default: true });
  expect((await shown(domain, workspace)).is_default).toBe(false);
});

test('a link moves to another domain by a change, and back', async () => {
  const domain = await verified();
  const { first } = await createLink(shop, campaign({ slug: `move-${count}`, domain: null, external: true }));
  const moved = await shop.patch<{ short_url: string }>(`/links/${first.id}`, { domain: host });
  expect(moved.body.short_url).toBe(`https://${host}/move-${count}`);
  // The old address is the link's alias. Another link of the workspace may take it, and then the link can't move back.
  const other = await createLink(shop, campaign({ slug: `move-${count}`, domain: null, external: true }));
  expect(other.first.id).not.toBe(first.id);
  expect((await shop.patch(`/links/${first.id}`, { domain: null })).status).toBe(409);
  const back = await shop.patch<{ short_url: string }>(`/links/${first.id}`, {
    domain: null,
    slug: `back-${count}`,
  });
  expect(back.body.short_url).toBe(`https://hop.example/back-${count}`);
  expect((await shop.patch(`/links/${first.id}`, { domain: 'nobody.example' })).status).toBe(400);
  const program = await shop.post<{ id: string }>('/programs', {
    name: 'P',
    destination_url: 'https://shop.example/join',
    code: `code-${count}`,
  });
  expect((await shop.patch(`/links/${program.body.id}`, { domain: host })).status).toBe(400);
  expect((await shown(domain)).status).toBe('verified');
});

test('a domain with links is deleted only with word of what happens to them', async () => {
  const domain = await verified();
  const on = (slug: string) => createLink(shop, campaign({ slug, domain: host, external: true }));
  const here = await on(`here-${count}`);
  const clash = await on(`clash-${count}`);
  const gone = await on(`gone-${count}`);
  await shop.patch(`/links/${gone.first.id}`, { domain: null });
  const there = await createLink(shop, campaign({ slug: `Clash-${count}`, domain: null, external: true }));
  const refused = await shop.delete<ErrorBody>(`/domains/${domain.id}`);
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    expect.stringContaining('2 links are on'),
  ]);
  const taken = await shop.delete<ErrorBody>(`/domains/${domain.id}?links=move`);
  expect([taken.status, taken.body.error.details?.[0]?.message]).toEqual([409, `"clash-${count}" is taken`]);
  const still = await shop.get<{ domain: string }>(`/links/${here.first.id}`);
  expect(still.body.domain).toBe(host);
  await shop.patch(`/links/${clash.first.id}`, { slug: `free-${count}` });
  expect((await shop.delete(`/domains/${domain.id}?links=move`)).status).toBe(200);
  for (const { first } of [here, clash, gone, there]) {
    expect((await shop.get<{ domain: null }>(`/links/${first.id}`)).body.domain).toBeNull();
  }
  expect((await shop.get(`/domains/${domain.id}`)).status).toBe(404);
  // Added again, the domain starts without names, and `delete` leaves links that have moved away.
  const again = await verified();
  const left = await on(`here-${count}`);
  const away = await on(`away-${count}`);
  await shop.patch(`/links/${away.first.id}`, { domain: null });
  expect((await shop.delete(`/domains/${again.id}?links=delete`)).status).toBe(200);
  expect((await shop.get(`/links/${left.first.id}`)).status).toBe(404);
  expect((await shop.get(`/links/${away.first.id}`)).status).toBe(200);
});

test('referral links and links of bio buttons are made on the default domain, codes and pages are not', async () => {
  const workspace = await api.addWorkspace();
  const domain = await verified(workspace);
  await workspace.patch(`/domains/${domain.id}`, { is_default: true });
  const program = await workspace.post<{ code: string }>('/programs', {
    name: 'P',
    destination_url: 'https://shop.example/join',
  });
  const enrolled = await workspace.post<{ referral_link: string }>('/referrals/enroll', {
    email: 'a@shop.example',
    external_user_id: 'a',
    tier: 'free',
  });
  expect(enrolled.body.referral_link).toMatch(new RegExp(`^https://${host}/[1-9A-Za-z]{7}$`));
  const signup = await workspace.post<{ matched: boolean }>('/referrals/report-signup', {
    new_user_external_user_id: 'b',
    ref_code: enrolled.body.referral_link,
  });
  expect(signup.body.matched).toBe(true);
  const code = await workspace.get<{ links: { domain: null; slug: string }[] }>(
    `/links?view=records&slug=${program.body.code}`,
  );
  expect(code.body.links[0]?.domain).toBeNull();
  const page = await workspace.post<BioPage>('/bio-pages', {
    slug: `page-${count}`,
    links: [{ label: 'Shop', url: 'https://shop.example/' }],
  });
  expect(page.body.url).toBe(`https://hop.example/page-${count}`);
  expect(page.body.links[0]?.short_url).toMatch(new RegExp(`^https://${host}/`));
});

test('a button whose link is on a lost domain shows no short URL', async () => {
  const workspace = await api.addWorkspace();
  const domain = await verified(workspace);
  await workspace.patch(`/domains/${domain.id}`, { is_default: true });
  const links = [{ label: 'Shop', url: 'https://shop.example/' }];
  const page = await workspace.post<BioPage>('/bio-pages', { slug: `lost-${count}`, links });
  expect(page.body.links[0]?.short_url).toContain(host);
  await api.stores.pool.query(
    `UPDATE domains SET status = 'pending', is_default = false, verified_at = NULL WHERE id = $1`,
    [domain.id],
  );
  const list = await workspace.get<{ bio_pages: BioPage[] }>('/bio-pages');
  const one = await workspace.get<BioPage>(`/bio-pages/lost-${count}`);
  const changed = await workspace.patch<BioPage>(`/bio-pages/lost-${count}`, { title: 'Lost' });
  for (const shown of [list.body.bio_pages[0], one.body, changed.body])
    expect(shown?.links).toMatchObject([{ url: 'https://shop.example/', short_url: null }]);
});

test('a referrer whose link is on a lost domain gets another link, and the old one still names the referrer', async () => {
  const workspace = await api.addWorkspace();
  const domain = await verified(workspace);
  await workspace.patch(`/domains/${domain.id}`, { is_default: true });
  await workspace.post('/programs', { name: 'P', destination_url: 'https://shop.example/join' });
  const body = { email: 'a@shop.example', external_user_id: 'a', tier: 'free' };
  const enroll = async () =>
    (await workspace.post<{ referral_link: string }>('/referrals/enroll', body)).body.referral_link;
  const lost = await enroll();
  expect(new URL(lost).host).toBe(host);
  await api.stores.pool.query(
    `UPDATE domains SET status = 'pending', is_default = false, verified_at = NULL WHERE id = $1`,
    [domain.id],
  );
  const found = await enroll();
  expect(new URL(found).host).toBe('hop.example');
  expect(await enroll()).toBe(found);
  const list = await workspace.get<{ enrollments: { referral_link: string }[] }>('/enrollments');
  expect(list.body.enrollments.map(({ referral_link }) => referral_link)).toEqual([found]);
  const signup = await workspace.post<{ matched: boolean }>('/referrals/report-signup', {
    new_user_external_user_id: 'b',
    ref_code: new URL(lost).pathname.slice(1),
  });
  expect(signup.body.matched).toBe(true);
});

test('no program leads to a domain of the workspace, and a button that does has no short link', async () => {
  const workspace = await api.addWorkspace();
  await verified(workspace);
  const program = { name: 'P', destination_url: 'https://shop.example/join' };
  const { id } = (await workspace.post<{ id: string }>('/programs', program)).body;
  const own = { ...program, destination_url: `https://${host.toUpperCase()}./join` };
  for (const { status, body } of [
    await workspace.post<ErrorBody>('/programs', own),
    await workspace.patch<ErrorBody>(`/programs/${id}`, { destination_url: own.destination_url }),
  ]) {
    expect([status, body.error.details?.[0]?.path]).toEqual([400, 'destination_url']);
  }
  const page = await workspace.post<{ links: { tracked_link_id: string | null }[] }>('/bio-pages', {
    slug: `own-${count}`,
    links: [
      { label: 'Sale', url: `https://${host}/sale` },
      { label: 'Shop', url: 'https://shop.example/' },
    ],
  });
  expect(page.body.links.map(({ tracked_link_id }) => tracked_link_id)).toEqual([null, expect.any(String)]);
});

test('a row of an import is on the domain that its full short URL names, and is skipped the second time', async () => {
  const workspace = await api.addWorkspace();
  await verified(workspace);
  const text = [
    'long_url,link,title',
    `https://shop.example/a,https://${host.toUpperCase()}/imported,A`,
    'https://shop.example/b,https://bit.ly/imported,B',
    `https://shop.example/c,http://${host}/other,C`,
  ].join('\n');
  const run = () =>
    workspace.post<{ created: number; skipped: number; errors: unknown[] }>('/links/import', {
      text,
      unproven: 'move',
    });
  expect((await run()).body).toMatchObject({ created: 3, skipped: 0, errors: [] });
  expect((await run()).body).toMatchObject({ created: 0, skipped: 3, errors: [] });
  const { links } = (
    await workspace.get<{ links: { short_url: string; destination: string }[] }>('/links?view=records')
  ).body;
  const led = Object.fromEntries(links.map(({ short_url, destination }) => [short_url, destination]));
  expect(led).toEqual({
    [`https://${host}/imported`]: 'https://shop.example/a',
    'https://hop.example/imported': 'https://shop.example/b',
    [`https://${host}/other`]: 'https://shop.example/c',
  });
});

test('lists and searches of links can be of one domain', async () => {
  const workspace = await api.addWorkspace();
  await verified(workspace);
  const on = await createLink(workspace, campaign({ domain: host, external: true }));
  const off = await createLink(workspace, campaign({ external: true }));
  const records = async (domain: string) =>
    (await workspace.get<{ links: { id: string }[] }>(`/links?view=records&domain=${domain}`)).body.links;
  const found = async (domain: string) =>
    (
      await workspace.get<{ links: { link: { id: string } }[] }>(
        `/links/search?figures=exclude&domain=${domain}`,
      )
    ).body.links.map(({ link }) => link);
  for (const list of [records, found]) {
    expect((await list(host.toUpperCase())).map(({ id }) => id)).toEqual([on.first.id]);
    expect((await list('none')).map(({ id }) => id)).toEqual([off.first.id]);
    expect(await list('nobody.example')).toEqual([]);
  }
  const workspaceId = workspace.workspace.id;
  await storeClicks(
    api.stores,
    [on, off].map(({ first }) => ({ workspaceId, linkId: first.id })),
  );
  const { links } = (await workspace.get<{ links: { link_id: string; domain: string | null }[] }>('/links'))
    .body;
  expect(new Map(links.map(({ link_id, domain }) => [link_id, domain]))).toEqual(
    new Map([
      [on.first.id, host],
      [off.first.id, null],
    ]),
  );
});

test('a free workspace has no domains', async () => {
  const free = await api.addWorkspace({ plan: 'free' });
  expect((await free.get('/domains')).status).toBe(402);
  expect((await free.post('/domains', { domain: host })).status).toBe(402);
});
