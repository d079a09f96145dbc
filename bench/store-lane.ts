import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Registry } from 'prom-client';
import UserAgent from 'user-agents';
import { createClickHouse } from '../clickhouse/client.ts';
import { migrate as migrateClickHouse } from '../clickhouse/migrate.ts';
import { readConfig } from '../core/config.ts';
import { createEnricher } from '../core/enrich/enrich.ts';
import { openGeo } from '../core/enrich/geo.ts';
import { openEventLogReader, openEventLogWriter } from '../core/event-log/open.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import { decodeEvents } from '../core/events/codec.ts';
import { uuidToBytes, uuidv7 } from '../core/ids.ts';
import { createLogger } from '../core/log.ts';
import { migrate } from '../sql/migrate.ts';
import { createPool } from '../sql/pool.ts';
import { registerStream } from '../sql/streams.ts';
import { createWorkers } from '../workers/workers.ts';

/**
 * Measures one lane: clicks that wait in a journal are decoded, enriched with the real geography and parsers, and
 * stored in ClickHouse.
 *
 *   node bench/store-lane.ts --database postgres://… --clickhouse http://… [--clicks 2000000]
 *
 * The addresses name servers on which it may make databases of its own (`hoplog_bench_lane`); it drops them at the
 * end. `per CPU` is clicks for each second of this process's CPU time: one core's throughput.
 */

const DATABASE = 'hoplog_bench_lane';
const USER_AGENTS = 500;

const { values } = parseArgs({
  options: {
    database: { type: 'string' },
    clickhouse: { type: 'string' },
    clicks: { type: 'string', default: '2000000' },
  },
});
if (!values.database || !values.clickhouse) throw new Error('--database and --clickhouse are needed');
const clicks = Number(values.clicks);

const admin = createPool(values.database);
await admin.query(`DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`);
await admin.query(`CREATE DATABASE ${DATABASE}`);
const url = new URL(values.database);
url.pathname = `/${DATABASE}`;
const pool = createPool(url.toString());
await migrate(pool);
const server = createClickHouse({ url: values.clickhouse, database: 'default' });
await server.command({ query: `DROP DATABASE IF EXISTS ${DATABASE} SYNC` });
await migrateClickHouse(server, { database: DATABASE, cluster: '' });
const clickhouse = createClickHouse({ url: values.clickhouse, database: DATABASE });
const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-bench-'));

const sealer = createAddressSealer(Buffer.alloc(32, 7));
const log = createLogger('bench', 'warn');
const registry = new Registry();
const config = {
  dataDir,
  journalSyncMs: 100,
  journalBudgetBytes: 8 * 2 ** 30,
  kafkaBrokers: [],
  kafka: readConfig({}).kafka,
};
const writer = await openEventLogWriter(config, {
  streamName: 'bench-0',
  register: () => registerStream(pool, 'bench-0'),
  stored: async () => -1n,
  sealer,
  log,
  registry,
});
const agents = Array.from({ length: USER_AGENTS }, () => new UserAgent().toString());
const workspaceId = uuidToBytes(uuidv7());
const links = Array.from({ length: 1_000 }, () => uuidToBytes(uuidv7()));
const address = Buffer.from('00000000000000000000ffff00000000', 'hex');
const ignore = () => undefined;
let last = 0n;
for (let i = 0; i < clicks; i++) {
  // 200,000 addresses in 3,000 networks: most of what a busy site sees within minutes.
  address.writeUInt32BE(0x17000000 + ((i * 7_919) % 3_000) * 4_096 + ((i * 31) % 67), 12);
  const { sequence } = writer.append(
    {
      kind: 'click',
      workspaceId,
      linkId: links[(i * 104_729) % 1_000] ?? address,
      visitorId: uuidToBytes(uuidv7()),
      channel: 'twitter',
      referer: `https://t.co/${i % 200}`,
      userAgent: agents[(i * 613) % USER_AGENTS] ?? '',
      address,
      flags: 0,
    },
    ignore,
  );
  last = sequence;
  if (i % 500 === 499) await sleep(0);
}
await writer.close();

const reader = openEventLogReader(config);
const enricher = createEnricher({ geo: await openGeo() });
const cpu = process.cpuUsage();
const began = performance.now();
const workers = createWorkers({
  pool,
  clickhouse,
  reader,
  decode: (batch) => decodeEvents(batch, sealer),
  enricher,
  log,
  registry: new Registry(),
});
for (;;) {
  const { rows } = await pool.query<{ high_water: string }>('SELECT high_water FROM ingest_streams');
  if (BigInt(rows[0]?.high_water ?? -1) >= last) break;
  await sleep(10);
}
const seconds = (performance.now() - began) / 1000;
const { user, system } = process.cpuUsage(cpu);
await workers.stop();
const counted = await clickhouse.query({
  query: 'SELECT count() AS stored, uniqExact(sequence) AS distinct FROM clicks',
  format: 'JSONEachRow',
});
console.table(
  (await counted.json<{ stored: string; distinct: string }>()).map(({ stored, distinct }) => ({
    clicks,
    stored: Number(stored),
    distinct: Number(distinct),
    'clicks/s': Math.round(clicks / seconds),
    'clicks/s per CPU': Math.round((clicks * 1_000_000) / (user + system)),
  })),
);

await reader.close();
await clickhouse.close();
await server.command({ query: `DROP DATABASE ${DATABASE} SYNC` });
await server.close();
await pool.end();
await admin.query(`DROP DATABASE ${DATABASE} WITH (FORCE)`);
await admin.end();
rmSync(dataDir, { recursive: true, force: true });
