import { JournalReader } from '../../core/event-log/journal/reader.ts';
import type { DecodedEvent, LogBatch } from '../../core/event-log/port.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { TEST_STREAM_NAME, testSealer } from '../../test/support/journal.ts';
import { asViolation, Violation } from '../history.ts';
import { setTimeout as delay } from '../modules/timers-promises.ts';
import type { RegisteredStream } from '../world/registered-stream.ts';
import type { Process, World } from '../world/world.ts';
import type { ClickLedger } from './ledger.ts';

/** Where the simulated disk has the journal. */
export const DATA_DIR = '/data';
/** Memory for one read, which is used up when the next one begins. */
export const ARENA_BYTES = 64 * 1024;

type Read = Awaited<ReturnType<JournalReader['read']>>;

/** Reads the journal like a lane: from the offset in PostgreSQL, batch by batch, truncating what is stored. */
export class Worker {
  readonly process: Process;
  violation: Violation | null = null;
  readonly #world: World;
  readonly #stream: RegisteredStream;
  readonly #ledger: ClickLedger;
  readonly #mayDamage: () => boolean;

  constructor(
    world: World,
    stream: RegisteredStream,
    ledger: ClickLedger,
    { mayDamage }: { mayDamage: () => boolean },
  ) {
    this.#world = world;
    this.#stream = stream;
    this.#ledger = ledger;
    this.#mayDamage = mayDamage;
    this.process = world.start('worker');
    world.schedule(
      0,
      () => {
        this.#run().catch((error: unknown) => {
          if (!this.process.isAlive) return;
          this.violation = asViolation(error);
        });
      },
      this.process,
    );
  }

  async #run(): Promise<void> {
    const reader = new JournalReader(DATA_DIR, ARENA_BYTES);
    let { offset } = this.#stream.progress;
    for (;;) {
      try {
        const read = await reader.read(TEST_STREAM_NAME, offset, { maxBytes: 100_000, waitMs: 500 });
        offset = read.nextOffset;
        if (read.damage.length > 0 && !this.#mayDamage()) {
          throw new Violation(
            'a kill damages nothing',
            `${read.damage[0]?.reason} at ${read.damage[0]?.offset}`,
          );
        }
        await this.#store(read, offset);
        if (this.#world.random.chance(0.3))
          await reader.truncate(TEST_STREAM_NAME, this.#stream.progress.offset);
      } catch (error) {
        if (error instanceof Violation || !isOfDisk(error)) throw error;
        await delay(100);
      }
    }
  }

  async #store({ batches }: Read, offset: bigint): Promise<void> {
    const last = batches.at(-1);
    if (!last) return;
    const decoded = batches.map((batch) => ({ batch, events: this.#decode(batch) }));
    await delay(this.#world.random.between(1, 20));
    while (this.#stream.isDown) await delay(100);
    for (const { batch, events } of decoded) this.#ledger.stored(batch, events);
    const before = this.#stream.progress;
    const stored = last.firstSequence + BigInt(last.count - 1);
    const isBehind = last.streamId === before.streamId && stored < before.stored;
    this.#stream.commit({
      streamId: last.streamId,
      offset,
      stored: isBehind ? before.stored : stored,
      visibleBefore: last.maxTs + 1,
    });
  }

  #decode(batch: LogBatch): DecodedEvent[] {
    const { events, undecodable } = decodeEvents(batch, testSealer);
    if (undecodable.length > 0) throw new Violation('a batch is read whole', undecodable[0]?.reason ?? '');
    this.#ledger.read(batch, events);
    this.#world.mark(String(batch.offset));
    const clicks = events.filter(({ event }) => event.kind === 'click').length;
    if (clicks > 0) this.#world.note(`reads ${clicks} click${clicks === 1 ? '' : 's'}`);
    return events;
  }
}

function isOfDisk(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^E(IO|NOSPC|ROFS)$/.test(String(error.code));
}
