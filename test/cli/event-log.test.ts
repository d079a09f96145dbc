import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { createEventEncoder } from '../../core/events/codec.ts';
import { uuidv7 } from '../../core/ids.ts';
import { readSecrets } from '../../sql/database/secrets.ts';
import { addDeadLetters } from '../../sql/event-log/dead-letters.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { click } from '../../workers/test-support/events.ts';
import type { TestApi } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { operator } from '../support/hoplog.ts';

type Workspace = { id: string; slug: string; name: string; plan: string; [field: string]: unknown };
type Made = { workspace: Workspace; secret_key: string; publishable_key: string };

let cli: ReturnType<typeof operator>;

test.beforeAll(async ({ api }) => {
  cli = operator(api.stores);
});

const create = (...options: string[]) =>
  cli.json<Made>('workspace', 'create', '--name', 'Made by hand', ...options);

describe('dead-letter', () => {
  test('list shows waiting letters, and replay stores those that can be read now', async ({ api }) => {
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

describe('stream', () => {
  /** Lets a stream advance until the returned function is called. */
  function beat(api: TestApi, streamId: string): () => Promise<void> {
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
    return () => {
      beats.abort();
      return beating;
    };
  }

  test('lists the streams, and retires the one whose writer is gone, once', async ({ api }) => {
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

  test('does not retire an active stream, whose clicks pollers would miss', async ({ api }) => {
    const { streamId } = await registerStream(api.stores.pool, 'ingest-alive');
    const end = beat(api, streamId);
    await cli.refused(1, /ingest-alive still advances: stop its process/, 'stream', 'retire', 'ingest-alive');
    await end();
    expect(await cli.json('stream', 'retire', 'ingest-alive')).toMatchObject({ retired: streamId });
  });

  test('of two streams with a name retires the one that stands, and requires the id when both do', async ({
    api,
  }) => {
    const { streamId: first } = await registerStream(api.stores.pool, 'ingest-twin');
    const { streamId: second } = await registerStream(api.stores.pool, 'ingest-twin');
    await cli.refused(
      1,
      new RegExp(`2 streams have the name ingest-twin, and none of them advances: use the id .*${second}`),
      'stream',
      'retire',
      'ingest-twin',
    );
    const end = beat(api, second);
    expect(await cli.json('stream', 'retire', 'ingest-twin')).toMatchObject({ retired: first });
    await end();
  });
});
