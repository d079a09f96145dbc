/**
 * A worker process that ends itself with SIGKILL when a lane reaches a state, some milliseconds later if asked:
 * `killed-worker.ts <database url> <clickhouse url> <clickhouse database> <data dir> <address key> <state> <delay>`.
 */
import { Registry } from 'prom-client';
import { createClickHouse } from '../../clickhouse/client.ts';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import { JournalReader } from '../../core/event-log/journal/reader.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { createLogger } from '../../core/tier/log.ts';
import { createPool } from '../../sql/database/pool.ts';
import { createWorkers } from '../workers.ts';
import { PATIENCE_MS } from './patience.ts';

const [databaseUrl = '', url = '', database = '', dataDir = '', key = '', state = '', delay = '0'] =
  process.argv.slice(2);
const sealer = createAddressSealer(Buffer.from(key, 'hex'));
createWorkers({
  pool: createPool(databaseUrl),
  clickhouse: createClickHouse({ url, database }),
  reader: new JournalReader(dataDir),
  decode: (batch) => decodeEvents(batch, sealer),
  enricher: createEnricher({ geo: emptyGeo() }),
  log: createLogger('workers', 'silent'),
  registry: new Registry(),
  patienceMs: PATIENCE_MS,
  onState(reached) {
    if (reached !== state) return;
    const kill = () => process.kill(process.pid, 'SIGKILL');
    if (delay === '0') kill();
    else setTimeout(kill, Number(delay));
  },
});
