import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { CLICK_FLAGS, type ClickEvent } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import {
  journalEvents,
  type LinkColumns,
  makeLink,
  makeWorkspace,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { startIngestProcess } from '../../test/support/ingest-process.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { LIMIT_MS, until } from '../../test/support/until.ts';
import { CRAWLER, visit } from '../../test/support/visitors.ts';
import { createPermits, type Permits } from './permits.ts';

let stores: TestStores;
let first: TestIngest;
let second: TestIngest;
let workspaceId: string;
const dirs: string[] = [];

beforeAll(async () => {
  stores = await testStores();
  workspaceId = (await makeWorkspace(stores.pool)).id;
  first = await startTestIngest({ ...stores, env: { STREAM_NAME: 'ingest-a' } });
  second = await startTestIngest({ ...stores, env: { STREAM_NAME: 'ingest-b' } });
});
afterAll(async () => {
  for (const ingest of [first, second]) {
    await ingest?.close();
    await ingest?.remove();
  }
  for (const dir of dirs) await rm(dir, { recursive: true, force: true });
  await stores?.close();
});

const limited = (max_clicks: number, columns: LinkColumns = {}) =>
  makeLink(stores.pool, workspaceId, 'https://example.com/', { max_clicks, ...columns });

/**
 * Visits until `count` responses have come, `width` at a time. Returns how often each status came.
 *
 * @param again a status after which the visitor retries
 */
async function visitOften(
  urls: string[],
  count: number,
  width = 20,
  again?: number,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  let started = 0;
  const visitor = async () => {
    while (started < count) {
      const url = urls[started++ % urls.length] ?? '';
      let { status } = await visit(url);
      if (status === again) {
        const revisit = async () => (await visit(url)).status;
        status = await until(`a status other than ${again}`, revisit, (seen) => seen !== again);
      }
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: width }, visitor));
  return statuses;
}

/**
 * Visits until `isOver`, and then for a while longer. Returns how many visitors were redirected.
 *
 * @param isOver receives how many were, and the statuses of the last round
 */
async function visitUntil(
  urls: string[],
  isOver: (through: number, statuses: Set<number>) => boolean,
): Promise<number> {
  let through = 0;
  const round = async () => {
    const statuses = await visitOften(urls, 100);
    through += statuses.get(302) ?? 0;
    for (const status of statuses.keys()) expect([302, 410, 503]).toContain(status);
    return new Set(statuses.keys());
  };
  await until('the last redirect', round, (statuses) => isOver(through, statuses));
  // An idle process returns its leases after a second: none may redirect one visitor too many.
  for (let more = 0; more < 4; more++) {
    await round();
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  return through;
}

/** Visits until `count` visitors were redirected, which must be all. Returns how many were. */
const visitUntilSpent = (urls: string[], count: number) => visitUntil(urls, (through) => through >= count);

async function countedClicks(dataDir: string, stream: string, linkId: string): Promise<number> {
  const events = await journalEvents(stores.pool, dataDir, stream);
  const counted = (event: { kind: string }) => {
    const click = event as ClickEvent;
    return (
      event.kind === 'click' &&
      bytesToUuid(click.linkId) === linkId &&
      (click.flags & CLICK_FLAGS.counted) !== 0
    );
  };
  return events.filter(counted).length;
}

/** Counts the clicks of a stream's journal as used, as the workers do. */
async function workOff(ingest: TestIngest, stream: string, linkId: string): Promise<void> {
  const used = await countedClicks(ingest.dataDir, stream, linkId);
  await stores.pool.query(
    `UPDATE link_leases SET used = $3 FROM ingest_streams s
     WHERE link_id = $1 AND link_leases.stream_id = s.stream_id AND s.name = $2`,
    [linkId, stream, used],
  );
}

test('exactly max_clicks visitors are redirected, then the response is 410', async () => {
  const { id, slug } = await limited(7);
  // While a grant is under way, others may find nothing left: 503 without a click.
  const statuses = await visitOften([`${first.url}/${slug}`], 30, 10, 503);
  expect(Object.fromEntries(statuses)).toEqual({ 302: 7, 410: 23 });
  expect(await countedClicks(first.dataDir, 'ingest-a', id)).toBe(7);
});

test('a returning visitor uses a permit each time', async () => {
  const { slug } = await limited(2);
  const headers = { cookie: '_vid=9c5f8d1e-3b0a-4c6d-8e2f-112233445566' };
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) statuses.push((await visit(`${first.url}/${slug}`, { headers })).status);
  expect(statuses).toEqual([302, 302, 410]);
});

test('a used-up link redirects to its expired address', async () => {
  const { slug } = await limited(1, { expired_redirect_url: 'https://example.com/over' });
  await visit(`${first.url}/${slug}`);
  const { status, location } = await visit(`${first.url}/${slug}`);
  expect([status, location?.href]).toEqual([302, 'https://example.com/over']);
});

test('two processes under load redirect exactly max_clicks visitors in total', async () => {
  const { id, slug } = await limited(500);
  const urls = [`${first.url}/${slug}`, `${second.url}/${slug}`];
  for (const url of urls) expect((await visit(url)).status).toBe(302);
  expect(await visitUntilSpent(urls, 498)).toBe(498);
  const counted = [
    await countedClicks(first.dataDir, 'ingest-a', id),
    await countedClicks(second.dataDir, 'ingest-b', id),
  ];
  expect((counted[0] ?? 0) + (counted[1] ?? 0)).toBe(500);
  expect(Math.min(...counted)).toBeGreaterThan(0);
});

test('the response is 503 while other processes’ use is unknown, and 410 once workers have counted it', async () => {
  const { id, slug } = await limited(50);
  expect(await visitUntilSpent([`${first.url}/${slug}`], 50)).toBe(50);
  const waiting = await visit(`${second.url}/${slug}`);
  expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([503, '1']);
  await workOff(first, 'ingest-a', id);
  await expect.poll(async () => (await visit(`${second.url}/${slug}`)).status).toBe(410);
});

test('unused leases return, and another process uses them', async () => {
  const { slug } = await limited(40);
  expect((await visit(`${first.url}/${slug}`)).status).toBe(302);
  expect(await visitUntilSpent([`${second.url}/${slug}`], 39)).toBe(39);
});

test('bots are redirected without a permit, and see when the link is used up', async () => {
  const { id, slug } = await limited(1);
  const bot = { headers: { 'user-agent': CRAWLER } };
  for (let i = 0; i < 5; i++) expect((await visit(`${first.url}/${slug}`, bot)).status).toBe(302);
  expect((await visit(`${first.url}/${slug}`, { method: 'HEAD' })).status).toBe(302);
  const { rows } = await stores.pool.query('SELECT 1 FROM link_leases WHERE link_id = $1', [id]);
  expect(rows).toEqual([]);
  expect((await visit(`${first.url}/${slug}`)).status).toBe(302);
  expect((await visit(`${first.url}/${slug}`)).status).toBe(410);
  expect((await visit(`${first.url}/${slug}`, bot)).status).toBe(410);
});

test('a raised limit opens the link again, a lowered one applies to granted leases', async () => {
  const raised = await limited(2);
  expect(await visitUntilSpent([`${first.url}/${raised.slug}`], 2)).toBe(2);
  await stores.pool.query('UPDATE links SET max_clicks = 5 WHERE id = $1', [raised.id]);
  await expect.poll(async () => (await visit(`${first.url}/${raised.slug}`)).status).toBe(302);
  expect(await visitUntilSpent([`${first.url}/${raised.slug}`], 2)).toBe(2);

  const lowered = await limited(1_000);
  expect((await visit(`${first.url}/${lowered.slug}`)).status).toBe(302);
  await stores.pool.query('UPDATE links SET max_clicks = 3 WHERE id = $1', [lowered.id]);
  const granted = async () => {
    const { rows } = await stores.pool.query<{ granted: number }>(
      'SELECT granted FROM link_leases WHERE link_id = $1',
      [lowered.id],
    );
    return rows[0]?.granted;
  };
  await expect.poll(granted).toBe(1);
  expect(await visitUntilSpent([`${first.url}/${lowered.slug}`], 2)).toBe(2);
});

test('a restart continues with the remaining permits', async () => {
  const { slug } = await limited(10);
  for (let i = 0; i < 4; i++) expect((await visit(`${first.url}/${slug}`)).status).toBe(302);
  await first.close();
  first = await startTestIngest({ ...stores, dataDir: first.dataDir, env: { STREAM_NAME: 'ingest-a' } });
  expect(await visitUntilSpent([`${first.url}/${slug}`], 6)).toBe(6);
});

/** Permits whose visitors wait for PostgreSQL as long as a test does. */
const patientPermits = (streamId: string, pool: Pool = stores.pool) =>
  createPermits({ pool, streamId, log: silentLogger(), waitMs: LIMIT_MS });

/** The pool, which fails the first return of permits before PostgreSQL gets it. */
function losingOneReturn(pool: Pool): Pool {
  let lost = false;
  const query = (...asked: Parameters<Pool['query']>) => {
    if (lost || !String(asked[0]).includes('SET granted = granted - $3')) return pool.query(...asked);
    lost = true;
    return Promise.reject(new Error('lost'));
  };
  return { query, connect: () => pool.connect() } as unknown as Pool;
}

test.each([
  ['at once', (pool: Pool) => pool],
  ['at a second try', losingOneReturn],
])(
  'a killed run’s permits go back first, %s: a limit lowered meanwhile applies to them',
  async (name, through) => {
    const { id } = await limited(100);
    const { streamId } = await registerStream(stores.pool, `ingest-left ${name}`);
    await stores.pool.query(
      'INSERT INTO link_leases (link_id, stream_id, granted, used) VALUES ($1, $2, 650, 50)',
      [id, streamId],
    );
    const permits = patientPermits(streamId, through(stores.pool));
    permits.start([{ linkId: id, spent: 50 }]);
    let taken = 0;
    for (let outcome = ''; outcome !== 'spent' && taken < 100; ) {
      outcome = permits.take(id, 100);
      if (outcome === 'wait') outcome = await permits.request(id);
      if (outcome === 'taken') taken++;
      // After an error no request is made for a while.
      if (outcome === 'unavailable') await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(taken).toBe(50);
    await permits.close();
  },
);

test('a visitor waiting for a permit is not redirected when the link is deleted, and is when its limit is removed', async () => {
  const { streamId } = await registerStream(stores.pool, 'ingest-waiting');
  const permits = patientPermits(streamId);
  permits.start([]);
  for (const [change, outcome] of [
    ['deleted_at = now()', 'spent'],
    ['max_clicks = NULL', 'unlimited'],
  ]) {
    const { id } = await limited(5);
    await stores.pool.query(`UPDATE links SET ${change} WHERE id = $1`, [id]);
    expect([permits.take(id, 5), await permits.request(id)]).toEqual(['wait', outcome]);
  }
  await permits.close();
});

test('a link restored right after its deletion redirects', async () => {
  const { streamId } = await registerStream(stores.pool, 'ingest-restored');
  const permits = patientPermits(streamId);
  permits.start([]);
  const { id } = await limited(5);
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [id]);
  expect([permits.take(id, 5), await permits.request(id)]).toEqual(['wait', 'spent']);
  await stores.pool.query('UPDATE links SET deleted_at = NULL WHERE id = $1', [id]);
  expect([permits.take(id, 5), await permits.request(id)]).toEqual(['wait', 'taken']);
  await permits.close();
});

test('among twenty processes every permit finds a visitor, and no visitor before the last permit is refused', async () => {
  const limit = 2_000;
  const { id } = await limited(limit);
  const all = await Promise.all(
    Array.from({ length: 20 }, async (_, number) => {
      const { streamId } = await registerStream(stores.pool, `ingest-of-twenty-${number}`);
      const permits = createPermits({
        pool: stores.pool,
        streamId,
        log: silentLogger(),
        // A loaded machine needs this long for what a service does within a second.
        waitMs: 60_000,
        emptyMs: 60_000,
      });
      permits.start([]);
      onTestFinished(() => permits.close());
      return permits;
    }),
  );
  let taken = 0;
  let refused = 0;
  const visitor = async (number: number) => {
    for (let visits = number; taken < limit; visits += 7) {
      const permits = all[visits % all.length];
      const outcome = permits?.take(id, limit);
      const found = outcome === 'wait' ? await permits?.request(id) : outcome;
      if (found === 'taken') taken += 1;
      else if (taken < limit) refused += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await Promise.all(Array.from({ length: 40 }, (_, number) => visitor(number)));
  expect([taken, refused]).toEqual([limit, 0]);
}, 180_000);

test('a wall clock that steps back withholds no permit', async () => {
  const [holder, other] = await Promise.all(
    ['ingest-holder', 'ingest-other'].map(async (name) => {
      const { streamId } = await registerStream(stores.pool, name);
      const permits = patientPermits(streamId);
      permits.start([]);
      onTestFinished(() => permits.close());
      return permits;
    }),
  );
  const { id } = await limited(1);
  const ask = (permits?: Permits) => {
    const taken = permits?.take(id, 1);
    return taken === 'wait' ? permits?.request(id) : taken;
  };
  expect(await ask(holder)).toBe('taken');
  holder?.release(id);
  // On a slow machine the holder has returned it already.
  if ((await ask(other)) === 'taken') other?.release(id);
  const before = Date.now;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => before() - 3_600_000);
  onTestFinished(() => clock.mockRestore());
  await expect.poll(() => ask(other)).toBe('taken');
});

test('after kill -9 under load and restarts exactly max_clicks clicks are counted, every response among them', async () => {
  const limit = 600;
  const { id, slug } = await limited(limit);
  const dataDir = await mkdtemp(join(tmpdir(), 'hoplog-ingest-'));
  dirs.push(dataDir);
  const env = { DATABASE_URL: stores.databaseUrl, DATA_DIR: dataDir, STREAM_NAME: 'ingest-killed' };
  let answered = 0;
  for (let round = 0; round < 3; round++) {
    const victim = await startIngestProcess(env);
    let killing: Promise<void> | null = null;
    let stopped = false;
    const visitor = async () => {
      while (!stopped) {
        const answer = await visit(`${victim.url}/${slug}`).catch(() => null);
        if (answer?.status === 302) answered++;
        if (answered > (round + 1) * 120) killing ??= victim.kill();
        if (answer === null) stopped = true;
      }
    };
    await Promise.all(Array.from({ length: 8 }, visitor));
    await (killing ?? victim.kill());
  }
  const survivor = await startIngestProcess(env);
  answered += await visitUntil(
    [`${survivor.url}/${slug}`],
    (_, statuses) => statuses.size === 1 && statuses.has(410),
  );
  expect(await survivor.stop()).toBe(0);
  expect(await countedClicks(dataDir, 'ingest-killed', id)).toBe(limit);
  // At each kill at most the running visits were counted without a response.
  expect(answered).toBeLessThanOrEqual(limit);
  expect(answered).toBeGreaterThanOrEqual(limit - 3 * 8);
});
