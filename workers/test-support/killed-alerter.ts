/**
 * A process that checks alerts, and ends itself with SIGKILL at a step:
 * `killed-alerter.ts <database url> <clickhouse url> <clickhouse database> <now> <step>`.
 */
import { openReaders } from '../../analytics/replicas/open-readers.ts';
import { createClickHouse } from '../../clickhouse/client.ts';
import { MAIN_REPLICA } from '../../core/settings/replicas.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { createPool } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { checkAlerts } from '../alerts/check-alerts.ts';

const [databaseUrl = '', url = '', database = '', now = '0', step = ''] = process.argv.slice(2);
const pool = createPool(databaseUrl);
const replicas = [{ name: MAIN_REPLICA, clickhouse: createClickHouse({ url, database }) }];
await checkAlerts(
  {
    pool,
    readers: openReaders(pool, replicas, silentLogger()),
    log: silentLogger(),
    outbox: createOutbox(true),
    appUrl: 'https://app.example',
    onStep(reached) {
      if (reached === step) process.kill(process.pid, 'SIGKILL');
    },
  },
  Number(now),
);
