import { expect, test } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { STOP_MS as CLICKHOUSE_STOP_MS } from '../embedded/clickhouse.ts';
import { STOP_MS as POSTGRES_STOP_MS } from '../embedded/postgres.ts';
import { tierSpecs } from './tiers.ts';

test('a whole stop takes at most ten seconds', () => {
  const config = {
    ...readConfig({}),
    databaseUrl: 'postgres://127.0.0.1/none',
    clickhouseUrl: 'http://127.0.0.1',
  };
  const ports = { api: 1, ingest: 2, metrics: { supervisor: 3, ingest: 4, workers: 5, api: 6 } };
  const { ingest, workers, api } = tierSpecs({}, config, ports);
  const databases = Math.max(CLICKHOUSE_STOP_MS, POSTGRES_STOP_MS);
  expect(Math.max(ingest.drainMs, api.drainMs) + workers.drainMs + databases).toBeLessThanOrEqual(10_000);
});
