/**
 * A worker process that delivers webhooks until it is killed:
 * `killed-deliverer.ts <database url> <clickhouse url> <clickhouse database> <data dir> <address key> [Stripe's origin]
 * [step]`. With a step it ends itself when a delivery of a credit reaches it.
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

const [databaseUrl = '', url = '', database = '', dataDir = '', key = '', stripeApiBase = '', step = ''] =
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
  webhooks: {
    allowPrivate: true,
    shortUrl: 'https://hop.example',
    stripeApiBase,
    onFulfilmentStep(reached) {
      if (reached === step) process.kill(process.pid, 'SIGKILL');
    },
  },
});
