/**
 * A process that sends reports, and ends itself with SIGKILL at a step:
 * `killed-reporter.ts <database url> <clickhouse url> <clickhouse database> <now> <step>`.
 */
import { createClickHouse } from '../../clickhouse/client.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { createPool } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { sendReports } from '../reports/send-reports.ts';

const [databaseUrl = '', url = '', database = '', now = '0', step = ''] = process.argv.slice(2);
await sendReports(
  {
    pool: createPool(databaseUrl),
    clickhouse: createClickHouse({ url, database }),
    log: silentLogger(),
    outbox: createOutbox(true),
    appUrl: 'https://app.example',
    onStep(reached) {
      if (reached === step) process.kill(process.pid, 'SIGKILL');
    },
  },
  Number(now),
);
