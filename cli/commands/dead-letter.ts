import type { Command } from 'commander';
import { Registry } from 'prom-client';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { openGeo } from '../../core/enrich/geo.ts';
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

/** A dead letter as it is printed: its payload may hold personal data, and stays where it is. */
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
  const group = program.command('dead-letter').description('events that could not be taken in');
  group
    .command('list')
    .description('what waits to be replayed, oldest first')
    .option('--limit <n>', 'at most so many', wholeNumber(1, 10_000), 100)
    .option('--after <id>', 'only those after this one', wholeNumber(0, Number.MAX_SAFE_INTEGER), 0)
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
        return `${list}\n\n${entries.length} of ${total}; the next ones: --after ${next}`;
      });
    });

  group
    .command('replay')
    .description('try every dead letter anew; what is still bad stays')
    .action(async (_options: object, command: Command) => {
      const result = await withStores(replay);
      printResult(command, result, ({ replayed, left }) => `${replayed} replayed, ${left} left`);
    });
}

/** `total`: all that wait. `next`: what to give as `--after` for those that follow; null: none do. */
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

async function replay({ config, pool, clickhouse }: Stores): Promise<{ replayed: number; left: number }> {
  const [secrets, geo] = await Promise.all([readSecrets(pool), openGeo()]);
  const sealer = createAddressSealer(secrets.address);
  return replayDeadLetters({
    pool,
    clickhouse,
    decode: (batch) => decodeEvents(batch, sealer),
    enricher: createEnricher({ geo }),
    metrics: createWorkerMetrics(new Registry()),
    log: createLogger('hoplog', config.logLevel),
  });
}
