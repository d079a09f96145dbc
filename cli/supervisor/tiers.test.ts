import { execFileSync } from 'node:child_process';
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

test('each tier names the settings of its ports, for the error of one that is taken', () => {
  const config = readConfig({ API_PORT: '3100', INGEST_PORT: '3101', METRICS_PORT: '9100' });
  const ports = {
    api: 3_100,
    ingest: 3_101,
    metrics: { supervisor: 9_100, ingest: 9_101, workers: 9_102, api: 9_103 },
  };
  const specs = tierSpecs({}, config, ports);
  const named = Object.values(specs).map(({ name, ports: places }) => [
    name,
    ...places.map(({ setting, configured, port }) => `${setting}=${configured ?? ''} ${port}`),
  ]);
  expect(named).toEqual([
    ['ingest', 'INGEST_PORT=3101 3101', 'METRICS_PORT=9100 9101'],
    ['workers', 'METRICS_PORT=9100 9102'],
    ['api', 'API_PORT=3100 3100', 'METRICS_PORT=9100 9103'],
  ]);
});

test("ingest and API start with the compiled code of Node's modules, which V8 rejects with flags for its heap", () => {
  const ports = { api: 1, ingest: 2, metrics: { supervisor: 3, ingest: 4, workers: 5, api: 6 } };
  const { ingest, api } = tierSpecs({}, readConfig({}), ports);
  // V8's cache of compiled code depends on a hash of its flags.
  const versionOf = (flags: readonly string[]) =>
    execFileSync(process.execPath, [...flags, '-p', 'v8.cachedDataVersionTag()'], { encoding: 'utf8' });
  for (const { flags } of [ingest, api]) expect(versionOf(flags)).toBe(versionOf([]));
  expect(versionOf(['--expose-gc'])).not.toBe(versionOf([]));
});
