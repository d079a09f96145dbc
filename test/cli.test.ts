import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import { keyMatches } from '../core/access/keys.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import { createEventEncoder } from '../core/events/codec.ts';
import { uuidv7 } from '../core/ids.ts';
import { readSecrets } from '../sql/database/secrets.ts';
import { addDeadLetters } from '../sql/event-log/dead-letters.ts';
import { recordHeartbeat } from '../sql/event-log/live-workers.ts';
import { registerStream } from '../sql/event-log/streams.ts';
import { partnerByLookup } from '../sql/workspaces/partners.ts';
import { click } from '../workers/test-support/events.ts';
import { type TestApi, testApi } from './support/api.ts';
import { hoplog, operator } from './support/hoplog.ts';

type Workspace = { id: string; slug: string; name: string; plan: string; [field: string]: unknown };
type Made = { workspace: Workspace; secret_key: string; publishable_key: string };
type Key = { id: string; kind: string; label: string; revoked_at: string | null };

let api: TestApi;
let cli: ReturnType<typeof operator>;

beforeAll(async () => {
  api = await testApi();
  cli = operator(api.stores);
});
afterAll(() => api.close());

const create = (...options: string[]) =>
  cli.json<Made>('workspace', 'create', '--name', 'Made by hand', ...options);

async function me(key: string): Promise<{ status: number; body: Record<string, Record<string, unknown>> }> {
  const response = await api.app.inject({ url: '/api/v1/me', headers: { authorization: `Bearer ${key}` } });
  return { status: response.statusCode, body: response.json() };
}

describe('workspace', () => {
  test('create prints the workspace and two keys that work, on the plan unlimited', async () => {
    const made = await create();
    expect(Object.keys(made)).toEqual(['workspace', 'secret_key', 'publishable_key']);
    expect(made.workspace).toMatchObject({
      name: 'Made by hand',
      plan: 'unlimited',
      primary_domain: null,
    });
    expect(made.secret_key).toMatch(/^lk_live_[0-9a-f]{8}_[0-9a-f]{48}$/);
    expect(made.publishable_key).toMatch(/^pk_live_[0-9a-f]{8}_[0-9a-f]{48}$/);
    for (const key of [made.secret_key, made.publishable_key]) {
      const response = await me(key);
      expect([response.status, response.body.workspace?.id]).toEqual([200, made.workspace.id]);
    }
  });

  test('create takes a plan and a domain, and two workspaces of one name get two slugs', async () => {
    const first = await create('--plan', 'pro', '--domain', 'Shop.Example');
    const second = await create();
    expect(first.workspace).toMatchObject({ plan: 'pro', primary_domain: 'shop.example' });
    expect(second.workspace.slug).not.toBe(first.workspace.slug);
    expect((await me(first.secret_key)).body.plan).toMatchObject({ tier: 'pro', status: 'active' });
  });

  test('set changes only what is given, by id or by slug', async () => {
    const { workspace, secret_key } = await create('--domain', 'kept.example');
    const all = ['--plan', 'starter', '--status', 'past_due', '--attribution-model', 'linear'];
    const rest = ['--attribution-window', '7', '--currency', 'EUR'];
    const set = await cli.json<{ workspace: Workspace }>(
      'workspace',
      'set',
      '--workspace',
      workspace.slug,
      ...all,
      ...rest,
    );
    const expected = {
      ...workspace,
      plan: 'starter',
      plan_status: 'past_due',
      attribution_model: 'linear',
      attribution_window: 7,
      currency: 'eur',
    };
    expect(set).toEqual({ workspace: expected });
    const again = ['workspace', 'set', '--workspace', workspace.id, '--domain', 'new.example'];
    expect(await cli.json(...again)).toEqual({ workspace: { ...expected, primary_domain: 'new.example' } });
    expect((await me(secret_key)).body.workspace).toMatchObject({
      primary_domain: 'new.example',
      attribution_model: 'linear',
      attribution_window: 7,
    });
  });

  test("a workspace's currency is fixed once it has orders, and an id takes precedence over a slug", async () => {
    const { workspace } = await create();
    const set = ['workspace', 'set', '--workspace', workspace.id, '--currency'];
    expect(await cli.json(...set, 'eur')).toMatchObject({ workspace: { currency: 'eur' } });
    await create('--name', workspace.id);
    expect(await cli.json(...set, 'usd')).toMatchObject({ workspace: { id: workspace.id } });
    await api.stores.pool.query(
      `INSERT INTO orders (workspace_id, order_id, version, source, ts, stream_ordinal, amount_minor, currency,
         attribution_model, attribution_window) VALUES ($1, 'o', 1, 'server', 1, 0, 1999, 'usd', 'linear', 7)`,
      [workspace.id],
    );
    await cli.refused(1, /the currency must stay usd because the workspace has orders/, ...set, 'jpy');
    expect(await cli.json(...set, 'usd')).toMatchObject({ workspace: { currency: 'usd' } });
  });

  test('list has every workspace, oldest first', async () => {
    const { workspace } = await create();
    const { workspaces } = await cli.json<{ workspaces: Workspace[] }>('workspace', 'list');
    expect(workspaces.at(-1)).toEqual(workspace);
    expect(workspaces.length).toBeGreaterThan(1);
  });

  test('set of an unknown workspace fails', () =>
    cli.refused(
      1,
      /^hoplog: no workspace has the id or slug "nowhere"\n$/,
      'workspace',
      'set',
      '--workspace',
      'nowhere',
    ));
});

describe('key', () => {
  test('create, list and revoke: a revoked key stops working at once', async () => {
    const { workspace } = await create();
    const { key, token } = await cli.json<{ key: Key; token: string }>(
      'key',
      'create',
      '--workspace',
      workspace.slug,
      '--kind',
      'secret',
      '--label',
      'for the shop',
    );
    expect(key).toMatchObject({
      kind: 'secret',
      label: 'for the shop',
      revoked_at: null,
      scopes: ['secret'],
    });
    expect((await me(token)).status).toBe(200);
    const list = () => cli.json<{ keys: Key[] }>('key', 'list', '--workspace', workspace.id);
    const { keys } = await list();
    expect(keys.map(({ kind, label }) => [kind, label])).toEqual([
      ['secret', 'first'],
      ['publishable', 'first'],
      ['secret', 'for the shop'],
    ]);
    expect(JSON.stringify(keys)).not.toContain(token.slice(-48));
    const revoked = await cli.json<{ key: Key }>('key', 'revoke', '--key', key.id);
    expect(revoked.key.revoked_at).toMatch(/^\d{4}-.*Z$/);
    expect((await me(token)).status).toBe(401);
    expect((await list()).keys.at(-1)).toEqual(revoked.key);
  });

  test('an unknown key or workspace fails', async () => {
    await cli.refused(1, /no key has the id "x"/, 'key', 'revoke', '--key', 'x');
    await cli.refused(1, /no workspace/, 'key', 'list', '--workspace', 'nowhere');
  });
});

describe('partner', () => {
  test('create and rotate print a key each, and only the newest counts', async () => {
    type Result = { partner: { id: string; name: string }; partner_key: string };
    const made = await cli.json<Result>('partner', 'create', '--name', 'Platform');
    expect(made.partner).toMatchObject({ name: 'Platform' });
    const rotated = await cli.json<Result>('partner', 'rotate', '--partner', made.partner.id);
    expect(rotated.partner).toEqual(made.partner);
    const lookup = (key: string) => key.split('_')[2] ?? '';
    for (const { partner_key } of [made, rotated]) {
      expect(partner_key).toMatch(/^pt_live_[0-9a-f]{8}_[0-9a-f]{48}$/);
    }
    const stored = await partnerByLookup(api.stores.pool, lookup(rotated.partner_key));
    expect(stored && keyMatches(rotated.partner_key, stored.hash)).toBe(true);
    expect(await partnerByLookup(api.stores.pool, lookup(made.partner_key))).toBeNull();
    await cli.refused(1, /no partner/, 'partner', 'rotate', '--partner', 'nobody');
  });
});

describe('enrollment', () => {
  test('suspend and approve change a referrer by the id that the workspace gave', async () => {
    const { workspace, secret_key } = await create();
    const call = (url: string, payload: object) =>
      api.app.inject({
        method: 'POST',
        url: `/api/v1${url}`,
        payload,
        headers: { authorization: `Bearer ${secret_key}` },
      });
    const program = { name: 'Friends', code: 'friends', destination_url: 'https://shop.example/' };
    expect((await call('/programs', program)).statusCode).toBe(201);
    const ann = { external_user_id: 'ann', email: 'ann@example.com', tier: 'free' };
    expect((await call('/referrals/enroll', ann)).statusCode).toBe(200);
    const user = ['--workspace', workspace.slug, '--external-user-id', 'ann'];
    for (const [verb, status] of [
      ['suspend', 'suspended'],
      ['approve', 'approved'],
    ] as const) {
      const { enrollment } = await cli.json<{ enrollment: object }>('enrollment', verb, ...user);
      expect(enrollment).toMatchObject({ external_user_id: 'ann', status });
    }
    await cli.refused(1, /bob is not enrolled/, 'enrollment', 'suspend', ...user.slice(0, 3), 'bob');
  });
});

describe('dead-letter', () => {
  test('list shows waiting letters, and replay stores those that can be read now', async () => {
    const { pool } = api.stores;
    const { workspace } = await create();
    const visitor = uuidv7();
    const stream = await registerStream(pool, 'ingest-0');
    const sealer = createAddressSealer((await readSecrets(pool)).address);
    const [event, payload] = [
      click({ workspace: workspace.id, link: uuidv7(), visitor, ts: 1_795_168_800_000_000 }),
      Buffer.alloc(4_096),
    ];
    const pad = { bytes: sealer.pads(stream.streamId, 7n, 1), position: 0 };
    const end = createEventEncoder()(event, event.ts, pad, payload, 0);
    const letter = { partition: 'ingest-0', streamId: stream.streamId };
    await addDeadLetters(pool, [
      {
        ...letter,
        logOffset: 5n,
        sequence: 7n,
        reason: 'enrich_failed: it broke',
        payload: payload.subarray(0, end),
      },
      {
        ...letter,
        logOffset: 6n,
        sequence: 8n,
        reason: 'unknown_kind: 99',
        payload: Buffer.from([1, 0, 0, 0, 99]),
      },
    ]);
    type Entries = { entries: { log_offset: string; sequence: string; reason: string; bytes: number }[] };
    const { entries } = await cli.json<Entries>('dead-letter', 'list');
    expect(entries).toMatchObject([
      {
        partition: 'ingest-0',
        log_offset: '5',
        sequence: '7',
        reason: 'enrich_failed: it broke',
        bytes: end,
      },
      { log_offset: '6', sequence: '8', reason: 'unknown_kind: 99', bytes: 5 },
    ]);
    type Page = Entries & { total: number; next: number | null };
    const first = await cli.json<Page>('dead-letter', 'list', '--limit', '1');
    expect([first.entries, first.total]).toEqual([entries.slice(0, 1), 2]);
    const second = await cli.json<Page>('dead-letter', 'list', '--limit', '1', '--after', String(first.next));
    expect(second).toEqual({ entries: entries.slice(1), total: 2, next: null });
    const human = await cli.run('dead-letter', 'list', '--limit', '1');
    expect(human.stdout).toMatch(/\n\n1 of 2; for the next page: --after \d+\n$/);
    expect(await cli.json('dead-letter', 'replay')).toEqual({ replayed: 1, left: 1 });
    expect((await cli.json<Entries>('dead-letter', 'list')).entries.map((entry) => entry.sequence)).toEqual([
      '8',
    ]);
    const result = await api.stores.clickhouse.query({
      query: 'SELECT toString(visitor_id) AS visitor, os FROM clicks',
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ visitor, os: 'iOS' }]);
  });
});

describe('migrate and status', () => {
  let address: string;
  beforeAll(async () => {
    address = await api.app.listen({ port: 0, host: '127.0.0.1' });
  });

  test('migrate reports what it applied, and that nothing is left the second time', async () => {
    const name = `${api.stores.clickhouseDatabase}_fresh`;
    const env = {
      ...cli.env,
      DATABASE_URL: cli.env.DATABASE_URL.replace(/[^/]+$/, name),
      CLICKHOUSE_DATABASE: name,
    };
    await api.stores.pool.query(`CREATE DATABASE ${name}`);
    try {
      const first = await hoplog(['migrate', '--json'], env);
      expect(first).toMatchObject({ status: 0, stderr: '' });
      const { applied } = JSON.parse(first.stdout);
      expect(applied.postgres[0]).toBe('0001_workspaces.sql');
      expect(applied.clickhouse[0]).toBe('0001_events.sql');
      const second = await hoplog(['migrate', '--json'], env);
      expect(JSON.parse(second.stdout)).toEqual({ applied: { postgres: [], clickhouse: [] } });
      expect((await hoplog(['migrate'], env)).stdout).toMatch(/postgres +up to date/);
    } finally {
      await api.stores.clickhouse.command({ query: `DROP DATABASE IF EXISTS ${name} SYNC` });
      await api.stores.pool.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  });

  test('migrate --wait retries while PostgreSQL is unreachable, up to its limit', async () => {
    const url = new URL(cli.env.DATABASE_URL);
    const store = { host: url.hostname, port: Number(url.port) };
    url.host = `127.0.0.1:${await freePort()}`;
    const env = { ...cli.env, DATABASE_URL: url.href };
    const refused = await hoplog(['migrate', '--wait', '1'], env);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toMatch(/hoplog: .*ECONNREFUSED/);

    // Rejects the first connection, then forwards.
    let connections = 0;
    const gate = createServer((socket) => {
      connections += 1;
      if (connections === 1) socket.destroy();
      else
        socket
          .pipe(connect(store))
          .pipe(socket)
          .on('error', () => {});
    });
    gate.listen(Number(url.port), '127.0.0.1');
    await once(gate, 'listening');
    try {
      const migrated = await hoplog(['migrate', '--wait', '120'], env);
      expect(migrated).toMatchObject({ status: 0, stdout: expect.stringMatching(/postgres +up to date/) });
      expect(migrated.stderr).toContain('a database is not ready yet; will retry');
    } finally {
      gate.close();
    }
  });

  test('status names every component, and exits with 1 while one is down', async () => {
    const env = { ...cli.env, BASE_URL: address, SHORT_URL: address };
    const worker = (holder: string, liveMs: number) =>
      Promise.all(
        ['store', 'webhooks'].map((consumer) =>
          recordHeartbeat(api.stores.pool, { consumer, holder, liveMs }),
        ),
      );
    await Promise.all([worker('a/1', 600_000), worker('b/1', 600_000), worker('c/1', 0)]);
    const up = await hoplog(['status', '--json'], env);
    const status = JSON.parse(up.stdout);
    expect(Object.keys(status)).toEqual(['parts', 'progress']);
    expect(Object.keys(status.parts)).toEqual([
      'redirects',
      'api',
      'workers',
      'postgres',
      'clickhouse',
      'clock',
    ]);
    expect(status.parts).toMatchObject({
      api: { ok: true },
      workers: { ok: true, detail: '2 alive' },
      postgres: { ok: true },
      clickhouse: { ok: true },
    });
    expect(status.progress).toMatchObject({
      streams: [{ name: 'ingest-0', ordinal: expect.any(Number) }],
      dead_letters: 1,
    });
    expect(up.status).toBe(0);
    const down = await hoplog(['status'], {
      ...env,
      SHORT_URL: 'http://127.0.0.1:9',
      KAFKA_BROKERS: '127.0.0.1:9,127.0.0.1:10',
    });
    expect([down.status, down.stderr]).toEqual([1, '']);
    expect(down.stdout).toMatch(/redirects +DOWN +connect ECONNREFUSED 127\.0\.0\.1:9/);
    expect(down.stdout).toMatch(/api +up/);
    expect(down.stdout).toMatch(/kafka +DOWN +.*ECONNREFUSED/);
  });

  test('status does not count a worker that stopped reporting', async () => {
    const status = () => hoplog(['status', '--json'], { ...cli.env, BASE_URL: address, SHORT_URL: address });
    await api.stores.pool.query('DELETE FROM live_workers');
    const never = await status();
    expect([never.status, JSON.parse(never.stdout).parts.workers]).toEqual([
      1,
      { ok: false, detail: 'no worker is alive' },
    ]);
    await recordHeartbeat(api.stores.pool, { consumer: 'store', holder: 'a/1', liveMs: 0 });
    const silent = await status();
    expect([silent.status, JSON.parse(silent.stdout).parts.workers]).toEqual([
      1,
      {
        ok: false,
        detail: expect.stringMatching(/^no worker is alive; the last heartbeat expired at \d{4}-/),
      },
    ]);
  });
});

describe('stream', () => {
  test('lists the streams, and retires the one whose writer is gone, once', async () => {
    const { streamId } = await registerStream(api.stores.pool, 'ingest-gone');
    const list = async () =>
      (await cli.json<{ streams: { stream_id: string; state: string }[] }>('stream', 'list')).streams;
    expect(await list()).toContainEqual(expect.objectContaining({ stream_id: streamId, state: 'active' }));
    const retired = await cli.json('stream', 'retire', 'ingest-gone');
    expect(retired).toEqual({ retired: streamId, name: 'ingest-gone' });
    expect(await list()).toContainEqual(expect.objectContaining({ stream_id: streamId, state: 'retired' }));
    await cli.refused(
      1,
      /no active stream has the id or name ingest-gone/,
      'stream',
      'retire',
      'ingest-gone',
    );
    await cli.refused(1, /is already retired/, 'stream', 'retire', streamId);
    await cli.refused(1, /is already retired/, 'stream', 'retire', streamId.toUpperCase());
  });

  test('does not retire an active stream, whose clicks pollers would miss', async () => {
    const { streamId } = await registerStream(api.stores.pool, 'ingest-alive');
    const beats = new AbortController();
    const beating = (async () => {
      while (!beats.signal.aborted) {
        await api.stores.pool.query(
          'UPDATE ingest_streams SET visible_before = visible_before + 1 WHERE stream_id = $1',
          [streamId],
        );
        await sleep(20);
      }
    })();
    await cli.refused(1, /ingest-alive still advances: stop its process/, 'stream', 'retire', 'ingest-alive');
    beats.abort();
    await beating;
    expect(await cli.json('stream', 'retire', 'ingest-alive')).toMatchObject({ retired: streamId });
  });

  test('requires the id when several streams have the name', async () => {
    for (const _twice of [1, 2]) await registerStream(api.stores.pool, 'ingest-twin');
    await cli.refused(1, /2 streams have the name ingest-twin/, 'stream', 'retire', 'ingest-twin');
  });
});
