import { Registry } from 'prom-client';
import { createClickHouse } from '../clickhouse/client.ts';
import type { EventLogWriter } from '../core/event-log/port.ts';
import { readConfig } from '../core/settings/config.ts';
import { createLogger } from '../core/tier/log.ts';
import { createPool } from '../sql/database/pool.ts';
import { createApi } from './app.ts';
import { DOCUMENT_PATHS } from './plugins/openapi.ts';

/**
 * Prints the API's OpenAPI documents as a JSON array, without PostgreSQL, ClickHouse or an event log:
 *
 *   node api/print-openapi.ts
 */

/** Nothing connects until a route reads or writes: the addresses only have to be well-formed. */
const NOWHERE = '127.0.0.1:1';

const noEventLog = (): never => {
  throw new Error('the OpenAPI documents are printed without an event log');
};
const eventLog: EventLogWriter = {
  stream: { streamId: '00000000-0000-0000-0000-000000000000', ordinal: 0 },
  ready: noEventLog,
  append: noEventLog,
  flush: noEventLog,
  fill: noEventLog,
  loss: noEventLog,
  close: noEventLog,
};
const app = await createApi({
  config: readConfig({}),
  pool: createPool(`postgres://${NOWHERE}/none`),
  clickhouse: createClickHouse({ url: `http://${NOWHERE}`, database: 'none' }),
  eventLog,
  log: createLogger('api', 'error'),
  registry: new Registry(),
});
const documents = await Promise.all(
  Object.values(DOCUMENT_PATHS).map(async (url): Promise<unknown> => {
    const response = await app.inject(url);
    if (response.statusCode !== 200)
      throw new Error(`${url} returned ${response.statusCode}: ${response.body}`);
    return response.json();
  }),
);
// The API's timers would keep the process alive.
process.stdout.write(JSON.stringify(documents), () => process.exit(0));
