import { expect } from 'vitest';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { signedInAs } from '../../test/support/members.ts';
import type { UtmTemplateRecord } from './schemas.ts';

type Page = { utm_templates: UtmTemplateRecord[]; next_cursor: string | null };

const letter = { name: 'Newsletter', utm_source: 'newsletter', utm_medium: 'email' };

test('a UTM template is made, listed, and deleted', async ({ shop }) => {
  const made = await shop.post<UtmTemplateRecord>('/utm-templates', letter);
  expect([made.status, made.body]).toEqual([
    201,
    {
      id: expect.any(String),
      ...letter,
      utm_campaign: null,
      utm_term: null,
      utm_content: null,
      created_at: expect.any(String),
    },
  ]);
  const poster = await shop.post<UtmTemplateRecord>('/utm-templates', {
    name: 'Poster',
    utm_medium: 'print',
  });
  const first = (await shop.get<Page>('/utm-templates?limit=1')).body;
  expect(first.utm_templates).toEqual([poster.body]);
  const second = (await shop.get<Page>(`/utm-templates?limit=1&cursor=${first.next_cursor}`)).body;
  expect(second).toEqual({ utm_templates: [made.body], next_cursor: null });
  expect((await shop.delete(`/utm-templates/${made.body.id}`)).body).toEqual({ ok: true });
  expect((await shop.delete(`/utm-templates/${made.body.id}`)).status).toBe(404);
});

test('what is wrong with a UTM template is named', async ({ shop }) => {
  for (const [body, path] of [
    [{ utm_source: 'newsletter' }, 'name'],
    [{ name: 'Empty' }, 'utm_source'],
    [{ name: 'Nulls', utm_source: null, utm_term: null }, 'utm_source'],
    [{ name: 'Blank', utm_medium: ' ' }, 'utm_medium'],
    [{ name: 'Long', utm_term: 'x'.repeat(256) }, 'utm_term'],
  ] as const) {
    const refused = await shop.post('/utm-templates', body);
    expect([refused.status, refused.body.error.details?.map((detail) => detail.path)]).toEqual([400, [path]]);
  }
});

test('a workspace has at most 200 UTM templates, and making one is safe to retry', async ({ api, shop }) => {
  const options = { headers: { 'idempotency-key': 'template' } };
  const first = await shop.post('/utm-templates', letter, options);
  expect((await shop.post('/utm-templates', letter, options)).body).toEqual(first.body);
  await api.stores.pool.query(
    `INSERT INTO utm_templates (id, workspace_id, name, utm_source, created_at)
     SELECT gen_random_uuid(), $1, 'T', 's', now() - n * interval '1 second' FROM generate_series(1, 199) n`,
    [shop.workspace.id],
  );
  const { status, body } = await shop.post('/utm-templates', letter);
  expect([status, body.error.code]).toEqual([409, 'conflict']);
});

test('an analyst reads UTM templates and makes none; a free plan has none', async ({ api, shop }) => {
  const analyst = await signedInAs(api, shop, 'analyst');
  expect((await analyst.call('GET', '/utm-templates')).status).toBe(200);
  expect((await analyst.call('POST', '/utm-templates', { body: letter })).status).toBe(403);
  const free = await api.addWorkspace({ plan: 'free' });
  expect((await free.get('/utm-templates')).status).toBe(402);
});
