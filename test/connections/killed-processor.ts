/**
 * A worker process that processes events of providers, and kills itself when a statement begins with a text:
 * `killed-processor.ts <database url> <clickhouse url> <clickhouse database> <begin of a statement>`.
 */
import type pg from 'pg';
import { Registry } from 'prom-client';
import { openReaders } from '../../analytics/replicas/open-readers.ts';
import { createClickHouse } from '../../clickhouse/client.ts';
import { MAIN_REPLICA } from '../../core/settings/replicas.ts';
import { createLogger, silentLogger } from '../../core/tier/log.ts';
import { createConnectionSealer } from '../../sql/connections/sealer.ts';
import { createPool } from '../../sql/database/pool.ts';
import { processEvents } from '../../workers/connections/process-events.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';

const [databaseUrl = '', url = '', database = '', begin = ''] = process.argv.slice(2);
const pool = createPool(databaseUrl);
pool.on('connect', (client: pg.PoolClient) => {
  const { query } = client;
  client.query = ((...sent: unknown[]) => {
    const text = typeof sent[0] === 'string' ? sent[0] : ((sent[0] as { text?: string }).text ?? '');
    if (text.trimStart().startsWith(begin)) process.kill(process.pid, 'SIGKILL');
    return Reflect.apply(query, client, sent);
  }) as typeof client.query;
});
const replicas = [{ name: MAIN_REPLICA, clickhouse: createClickHouse({ url, database }) }];
await processEvents({
  pool,
  readers: openReaders(pool, replicas, silentLogger()),
  log: createLogger('workers', 'silent'),
  metrics: createWorkerMetrics(new Registry()),
  sealer: createConnectionSealer(pool),
  stripeApiBase: 'http://127.0.0.1:1',
});
// No statement began with the text: the event is processed.
process.kill(process.pid, 'SIGKILL');
