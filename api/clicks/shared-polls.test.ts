import { expect } from 'vitest';
import { createClickHouse } from '../../clickhouse/client.ts';
import { clickId, uuidv7 } from '../../core/ids.ts';
import { formatInstant, nowNanos } from '../../core/time/timestamps.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { storeClicks } from '../../test/support/stored-events.ts';

import { createClickReader } from './shared-polls.ts';

type Page = { clicks: { id: string }[]; next_cursor: string | null; watermark: string };

test('two hundred polls at once each get their own clicks, as each alone does', async ({ api }) => {
  const [shop, other] = [await api.addWorkspace(), await api.addWorkspace()];
  const links = Array.from({ length: 40 }, () => uuidv7());
  const start = nowNanos() - 60_000_000_000n;
  const made = await storeClicks(
    api.stores,
    Array.from({ length: 3_000 }, (_, n) => ({
      workspaceId: (n % 10 === 0 ? other : shop).workspace.id,
      tsNanos: start + BigInt(n) * 1_000_000n,
      linkId: links[n % links.length] ?? '',
      isBot: n % 7 === 0,
    })),
  );
  const polls = Array.from({ length: 200 }, (_, n) => ({
    of: n % 5 === 0 ? other : shop,
    // Some share links with others, some name one twice, or a stranger's.
    ids: [links[n % 40], links[(n * 3) % 40], links[n % 40], uuidv7()] as string[],
    since: start + BigInt(n % 11) * 250_000_000n,
    bots: n % 2 === 0,
    limit: [3, 20, 500][n % 3] ?? 1,
  }));
  const answers = await Promise.all(
    polls.map(({ of, ids, since, bots, limit }) =>
      of.get<Page>(
        `/clicks?link_ids=${ids.join(',')}&since=${formatInstant(since, 9)}&limit=${limit}&bots=${bots ? 'include' : 'exclude'}`,
      ),
    ),
  );
  polls.forEach(({ of, ids, since, bots, limit }, index) => {
    const wanted = made
      .filter((click) => click.workspaceId === of.workspace.id && ids.includes(click.linkId))
      .filter((click) => click.tsNanos >= since && (bots || !click.isBot))
      .map((click) => click.tsNanos)
      .sort((a, b) => (a > b ? -1 : 1));
    const { status, body } = answers[index] ?? {};
    expect(status).toBe(200);
    expect(body?.clicks.map(({ id }) => id)).toEqual(wanted.slice(0, limit).map(clickId));
    const last = wanted[limit - 1];
    const cursor = wanted.length > limit && last !== undefined ? formatInstant(last, 9) : null;
    expect(body?.next_cursor).toBe(cursor);
  });
});

test('polls whose clicks are more than a shared query returns still get all of theirs', async ({ api }) => {
  const shop = await api.addWorkspace();
  const links = [uuidv7(), uuidv7()];
  const start = nowNanos() - 30_000_000_000n;
  await storeClicks(
    api.stores,
    Array.from({ length: 10_100 }, (_, n) => ({
      workspaceId: shop.workspace.id,
      tsNanos: start + BigInt(n) * 1_000n,
      linkId: links[n % 2] ?? '',
    })),
  );
  const poll = (link: string | undefined) =>
    shop.get<Page>(`/clicks?link_ids=${link}&since=${formatInstant(start, 9)}&limit=500&bots=include`);
  // The first poll runs alone. The others wait for it and share the next query.
  const answers = await Promise.all([links[0], links[1], links[0], links[1]].map(poll));
  const newest = (odd: number) =>
    Array.from({ length: 500 }, (_, n) => clickId(start + BigInt(10_098 + odd - 2 * n) * 1_000n));
  for (const [index, { body }] of answers.entries()) {
    expect(body.clicks.map(({ id }) => id)).toEqual(newest(index % 2));
  }
});

test('polls of more links than ClickHouse takes in one field get their clicks', async ({ api }) => {
  const shop = await api.addWorkspace();
  const links = Array.from({ length: 6_000 }, () => uuidv7());
  const start = nowNanos() - 30_000_000_000n;
  const made = await storeClicks(
    api.stores,
    links.map((linkId, n) => ({
      workspaceId: shop.workspace.id,
      tsNanos: start + BigInt(n) * 1_000n,
      linkId,
    })),
  );
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => {
      const ids = links.slice(n * 500, n * 500 + 500).join(',');
      return shop.get<Page>(`/clicks?link_ids=${ids}&since=${formatInstant(start, 9)}&limit=500`);
    }),
  );
  const got = answers.flatMap(({ body }) => body.clicks.map(({ id }) => id));
  expect(got.sort()).toEqual(made.map(({ tsNanos }) => clickId(tsNanos)).sort());
});

test('while ClickHouse is down, every waiting poll and the next one get its error', async () => {
  const away = createClickHouse({ url: 'http://127.0.0.1:1', database: 'default' });
  const read = createClickReader();
  const workspaceId = uuidv7();
  const poll = () =>
    read(
      away,
      {
        workspaceId,
        since: nowNanos(),
        before: null,
        linkIds: [uuidv7()],
        bots: true,
        conditions: [],
        orphans: 'exclude',
        hasDeletedLinks: false,
        imported: false,
      },
      10,
    ).catch(() => 'failed');
  expect(await Promise.all([poll(), poll(), poll()])).toEqual(['failed', 'failed', 'failed']);
  expect(await poll()).toBe('failed');
  await away.close();
});
