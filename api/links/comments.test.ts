import { expect } from 'vitest';
import { createKey } from '../../sql/workspaces/keys.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { signedInAs } from '../../test/support/members.ts';
import type { LinkRecord } from './schemas.ts';

type Comment = {
  id: string;
  link_id: string;
  text: string;
  author: { type: string; id: string; name: string | null };
  created_at: string;
};
type Page = { comments: Comment[]; next_cursor: string | null };

async function linkOf(shop: TestWorkspace): Promise<string> {
  const body = { destination_url: 'https://shop.example/', name: 'Autumn', smart: true };
  return (await shop.post<{ links: LinkRecord[] }>('/links', body)).body.links[0]?.id ?? '';
}

test('members and keys comment on a link, newest first, and its author deletes a comment', async ({
  api,
  shop,
}) => {
  const path = `/links/${await linkOf(shop)}/comments`;
  const byKey = await shop.post<Comment>(path, { text: 'Printed on 500 flyers.' });
  expect([byKey.status, byKey.body]).toEqual([
    201,
    {
      id: expect.any(String),
      link_id: path.split('/')[2],
      text: 'Printed on 500 flyers.',
      author: { type: 'key', id: expect.any(String), name: expect.anything() },
      created_at: expect.any(String),
    },
  ]);
  const operator = await signedInAs(api, shop, 'operator');
  const byMember = await operator.call<Comment>('POST', path, { body: { text: 'Ends\nin May' } });
  expect([byMember.status, byMember.body.author, byMember.body.text]).toEqual([
    201,
    { type: 'member', id: expect.any(String), name: expect.stringContaining('@') },
    'Ends\nin May',
  ]);
  const first = (await shop.get<Page>(`${path}?limit=1`)).body;
  expect(first.comments).toEqual([byMember.body]);
  const second = (await shop.get<Page>(`${path}?limit=1&cursor=${first.next_cursor}`)).body;
  expect(second).toEqual({ comments: [byKey.body], next_cursor: null });

  const key = { workspaceId: shop.workspace.id, kind: 'secret', label: '', manage: false } as const;
  const other = await createKey(api.stores.pool, { ...key, restrictions: null });
  // No one else deletes what they wrote; an owner does.
  for (const refused of [
    await shop.delete(`${path}/${byMember.body.id}`, { key: other.token }),
    await shop.delete(`${path}/${byKey.body.id}`, { key: other.token }),
    await operator.call('DELETE', `${path}/${byKey.body.id}`),
  ]) {
    expect([refused.status, refused.body.error.message]).toEqual([
      403,
      'only the author of a comment, or an owner, may delete it',
    ]);
  }
  expect((await operator.call('DELETE', `${path}/${byMember.body.id}`)).status).toBe(200);
  expect((await operator.call('DELETE', `${path}/${byMember.body.id}`)).status).toBe(404);
  const owner = await signedInAs(api, shop, 'owner');
  expect((await owner.call('DELETE', `${path}/${byKey.body.id}`)).body).toEqual({ ok: true });
  expect((await shop.get<Page>(path)).body.comments).toEqual([]);
  const { rows } = await api.stores.pool.query(
    `SELECT details FROM audit_entries WHERE workspace_id = $1 AND action = 'link.delete_comment' ORDER BY at`,
    [shop.workspace.id],
  );
  expect(rows).toEqual([
    { details: { comment_id: byMember.body.id } },
    { details: { comment_id: byKey.body.id } },
  ]);
});

test('what is wrong with a comment is named', async ({ api, shop }) => {
  const link = await linkOf(shop);
  const path = `/links/${link}/comments`;
  for (const [body, field] of [
    [{}, 'text'],
    [{ text: ' \u200b ' }, 'text'],
    [{ text: 'x'.repeat(2_001) }, 'text'],
    [{ text: 5 }, 'text'],
  ] as const) {
    const refused = await shop.post(path, body);
    expect([refused.status, refused.body.error.details?.map((detail) => detail.path)]).toEqual([
      400,
      [field],
    ]);
  }
  expect((await shop.post(path, { text: 'x'.repeat(2_000) })).status).toBe(201);
  expect((await shop.post(`/links/${crypto.randomUUID()}/comments`, { text: 'T' })).status).toBe(404);
  const analyst = await signedInAs(api, shop, 'analyst');
  expect((await analyst.call('GET', path)).status).toBe(200);
  expect((await analyst.call('POST', path, { body: { text: 'T' } })).status).toBe(403);
  await shop.delete(`/links/${link}`);
  expect((await shop.get(path)).status).toBe(404);
});

test('a link has at most 500 comments, and commenting is safe to retry', async ({ api, shop }) => {
  const link = await linkOf(shop);
  const path = `/links/${link}/comments`;
  const options = { headers: { 'idempotency-key': 'comment' } };
  const first = await shop.post<Comment>(path, { text: 'Once' }, options);
  expect((await shop.post(path, { text: 'Once' }, options)).body).toEqual(first.body);
  await api.stores.pool.query(
    `INSERT INTO link_comments (id, workspace_id, link_id, key_id, text, created_at)
     SELECT gen_random_uuid(), $1, $2, $3, 'Note', now() - n * interval '1 second' FROM generate_series(1, 499) n`,
    [shop.workspace.id, link, first.body.author.id],
  );
  const { status, body } = await shop.post(path, { text: 'One more' });
  expect([status, body.error.code]).toEqual([409, 'conflict']);
  expect((await shop.get<Page>(`${path}?limit=500`)).body.comments).toHaveLength(500);
});
