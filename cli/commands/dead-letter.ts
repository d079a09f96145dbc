import type { Command } from 'commander';
import { Registry } from 'prom-client';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { openGeo } from '../../core/enrich/geo.ts';
import { openNetworks } from '../../core/enrich/networks.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { createLogger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { readSecrets } from '../../sql/database/secrets.ts';
import {
  countUnreplayed,
  type StoredDeadLetter,
  unreplayedDeadLetters,
} from '../../sql/event-log/dead-letters.ts';
import { replayDeadLetters } from '../../workers/dead-letters/replay.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';
import { wholeNumber } from '../arguments.ts';
import { printResult, table } from '../output.ts';
import { type Stores, withStores } from '../stores.ts';

/** A dead letter as printed, without its payload, which may hold personal data. */
type Entry = {
  id: number;
  partition: string;
  log_offset: string;
  stream_id: string | null;
  sequence: string | null;
  reason: string;
  bytes: number;
  created_at: Date;
};

/** `hoplog dead-letter list | replay`. */
export function deadLetterCommands(program: Command): void {
  const group = program.command('dead-letter').description('events that could not be stored');
  group
    .command('list')
    .description('list the dead letters that are not replayed yet, oldest first')
    .option('--limit <n>', 'maximum number of entries', wholeNumber(1, 10_000), 100)
    .option('--after <id>', 'only entries after this id', wholeNumber(0, Number.MAX_SAFE_INTEGER), 0)
    .action(async (options: { limit: number; after: number }, command: Command) => {
      const result = await withStores(({ pool }) => page(pool, options));
      printResult(command, result, ({ entries, total, next }) => {
        const list = table(
          ['id', 'since', 'partition', 'offset', 'bytes', 'reason'],
          entries.map((entry) => [
            String(entry.id),
            entry.created_at.toISOString(),
            entry.partition,
            entry.log_offset,
            String(entry.bytes),
            entry.reason,
          ]),
        );
        if (next === null) return list;
        return `${list}\n\n${entries.length} of ${total}; for the next page: --after ${next}`;
      });
    });

  group
    .command('replay')
    .description('process every dead letter again; entries that fail again stay')
    .action(async (_options: object, command: Command) => {
      const result = await withStores(replayAll);
      printResult(command, result, ({ replayed, left }) => `${replayed} replayed, ${left} left`);
    });
}

/** Returns one page. `total` counts all entries; `next` is the value of `--after` for the next page, or null. */
async function page(
  pool: Pool,
  { limit, after }: { limit: number; after: number },
): Promise<{ entries: Entry[]; total: number; next: number | null }> {
  const [letters, total] = await Promise.all([
    unreplayedDeadLetters(pool, limit + 1, after),
    countUnreplayed(pool),
  ]);
  const entries = letters.slice(0, limit).map(entryOf);
  return { entries, total, next: letters.length > limit ? (entries.at(-1)?.id ?? null) : null };
}

function entryOf(letter: StoredDeadLetter): Entry {
  return {
    id: letter.id,
    partition: letter.partition,
    log_offset: String(letter.logOffset),
    stream_id: letter.streamId,
    sequence: letter.sequence === null ? null : String(letter.sequence),
    reason: letter.reason,
    bytes: letter.payload.length,
    created_at: letter.createdAt,
  };
}

async function replayAll({ config, pool, replicas }: Stores): Promise<{ replayed: number; left: number }> {
  const secrets = await readSecrets(pool);
  const sealer = createAddressSealer(secrets.address);
  return replayDeadLetters({
    pool,
    replicas,
    decode: (batch) => decodeEvents(batch, sealer),
    enricher: createEnricher({ geo: openGeo({ networks: openNetworks() }) }),
    metrics: createWorkerMetrics(new Registry()),
    log: createLogger('hoplog', config.logLevel),
  });
}
