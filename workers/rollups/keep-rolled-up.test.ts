import { afterAll, beforeAll, expect, test } from 'vitest';
import { rolledUpPeriods } from '../../clickhouse/rollups/periods.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import { advanceStreams, registerStream } from '../../sql/event-log/streams.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { keepRolledUp } from './keep-rolled-up.ts';

let stores: TestStores;

beforeAll(async () => {
  stores = await testStores({ isPooled: true });
});
afterAll(() => stores.close());

const micros = (text: string) => Date.parse(text) * 1_000;
const round = () =>
  keepRolledUp({
    pool: stores.pool,
    replicas: [{ name: 'main', clickhouse: stores.clickhouse }],
    log: silentLogger(),
  });
const days = async () => (await rolledUpPeriods(stores.clickhouse)).map(({ start }) => start);

test('a day is rolled up once the watermark has passed its end, by one worker at a time', async () => {
  const workspaceId = '019a0000-0000-7000-8000-000000000001';
  for (const text of ['2026-11-18T23:59:59Z', '2026-11-19T00:00:00Z', '2026-11-19T23:59:59.999Z']) {
    await storeClicks(stores, [{ workspaceId, tsNanos: BigInt(micros(text)) * 1_000n }]);
  }
  await round(); // no stream, no watermark
  expect(await days()).toEqual([]);

  const stream = { ...(await registerStream(stores.pool, 'ingest-0')), highWater: 0n };
  await advanceStreams(stores.pool, [{ ...stream, visibleBefore: micros('2026-11-19T23:59:59.999Z') }]);
  await round();
  expect(await days()).toEqual(['2026-11-18']);

  await advanceStreams(stores.pool, [{ ...stream, visibleBefore: micros('2026-11-20T00:00:00Z') }]);
  await withJobLease(stores.pool, 'rollups', round);
  expect(await days()).toEqual(['2026-11-18']);
  await round();
  expect(await days()).toEqual(['2026-11-18', '2026-11-19']);
});
