/**
 * Prints, as JSON, how many objects the heap holds before and after `READS` reads with one long-lived signal:
 * `retained-by-reads.ts journal <data dir> <partition>`, `kafka <brokers> <topic>` or `buffer`.
 *
 * A process of its own, so that the count contains only the reader.
 */
import { once } from 'node:events';
import { getHeapSnapshot } from 'node:v8';
import { JournalReader } from '../../core/event-log/journal/reader.ts';
import { createKafka } from '../../core/event-log/kafka/client.ts';
import { PartitionBuffer } from '../../core/event-log/kafka/partition-buffer.ts';
import { KafkaReader } from '../../core/event-log/kafka/reader.ts';
import { toMessage } from '../../core/event-log/kafka/record.ts';
import { readConfig } from '../../core/settings/config.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { READS } from './retained-objects.ts';

const WARM_UP = 5_000;
const { signal } = new AbortController();

/** Counts the objects in the heap after a forced collection. */
async function countObjects(): Promise<number> {
  // A snapshot collects garbage first. Its head, which has the count, is in the first chunk.
  const snapshot = getHeapSnapshot();
  const [head] = await once(snapshot, 'data');
  snapshot.destroy();
  const [, count] = /"node_count":(\d+)/.exec(String(head)) ?? [];
  if (count === undefined) throw new Error('the heap snapshot does not begin with its node_count');
  return Number(count);
}

/** Many reads wait in parallel, because each one waits for the file polling. */
async function waitForJournal(reader: JournalReader, partition: string, reads: number): Promise<void> {
  const offset = await reader.end(partition);
  const AT_ONCE = 500;
  for (let done = 0; done < reads; done += AT_ONCE) {
    const waiting = Array.from({ length: AT_ONCE }, () =>
      reader.read(partition, offset, { maxBytes: 1, waitMs: 1, signal }),
    );
    await Promise.all(waiting);
  }
}

async function readKafka(reader: KafkaReader, reads: number): Promise<void> {
  const [partition = ''] = await reader.partitions();
  const offset = await reader.end(partition);
  for (let done = 0; done < reads; done++) {
    await reader.read(partition, offset, { maxBytes: 1, waitMs: 0, signal });
  }
}

/** Waits that end because an event arrived. */
async function fillBuffer(buffer: PartitionBuffer, reads: number): Promise<void> {
  for (let done = 0; done < reads; done++) {
    const filled = buffer.filled(60_000, signal);
    const requested = buffer.position;
    const message = { ...MESSAGE, offset: String(requested) };
    buffer.offer({ requested, end: requested + 1n, messages: [message] });
    await filled;
    buffer.take(1);
  }
}

const { value, headers } = toMessage(
  {
    offset: 0n,
    nextOffset: 1n,
    streamId: '01a1fd81-2a35-7000-b576-f6765cc766a2',
    firstSequence: 0n,
    count: 1,
    minTs: 1,
    maxTs: 1,
    payload: Buffer.alloc(100),
  },
  0,
);
const MESSAGE = { value: Buffer.from(value ?? ''), headers };

function prepare([kind, where = '', what = '']: string[]): (reads: number) => Promise<void> {
  if (kind === 'buffer') {
    const buffer = new PartitionBuffer();
    return (reads) => fillBuffer(buffer, reads);
  }
  if (kind === 'journal') {
    const reader = new JournalReader(where);
    return (reads) => waitForJournal(reader, what, reads);
  }
  if (kind !== 'kafka') throw new RangeError(`\`${kind}\` must be journal, kafka or buffer`);
  const kafka = { ...readConfig({}).kafka, topic: what, partitions: 2, replication: 1 as const };
  const client = createKafka({ brokers: where.split(','), kafka }, 'test', silentLogger());
  const reader = new KafkaReader(client, kafka, silentLogger());
  return (reads) => readKafka(reader, reads);
}

const read = prepare(process.argv.slice(2));
await read(WARM_UP);
const before = await countObjects();
await read(READS);
const after = await countObjects();
process.stdout.write(`${JSON.stringify({ before, after })}\n`, () => process.exit(0));
