import fc from 'fast-check';
import { expect } from 'vitest';
import { clickId } from '../../core/ids.ts';
import { storesTest as test } from '../../test/support/fixtures.ts';
import { clickIdSql } from './click-id.ts';
import { runQuery } from './run-query.ts';

test('ClickHouse makes the same id of a time as `clickId`', async ({ stores }) => {
  const random = fc.sample(fc.bigInt({ min: 0n, max: 9_223_372_035n * 1_000_000_000n }), {
    numRuns: 5_000,
    seed: 1,
  });
  const times = [0n, 1n, 999_999n, 1_000_000n, 1_795_168_800_123_456_007n, ...random];
  const rows = await runQuery<{ nanos: string; id: string }>(stores.clickhouse, {
    sql: `SELECT nanos, ${clickIdSql("fromUnixTimestamp64Nano(nanos, 'UTC')")} AS id
          FROM (SELECT arrayJoin({times:Array(Int64)}) AS nanos)`,
    params: { times },
    seconds: 20,
  });
  expect(rows).toHaveLength(times.length);
  for (const { nanos, id } of rows) expect([nanos, id]).toEqual([nanos, clickId(BigInt(nanos))]);
});
