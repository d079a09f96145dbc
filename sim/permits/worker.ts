import { JournalReader } from '../../core/event-log/journal/reader.ts';
import type { DecodedEvent } from '../../core/event-log/port.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import { testSealer } from '../../test/support/journal.ts';
import { asViolation, type Violation } from '../history.ts';
import { ARENA_BYTES } from '../journal/worker.ts';
import { setTimeout as delay } from '../modules/timers-promises.ts';
import type { Process, World } from '../world/world.ts';
import type { IngestPlace } from './ingest.ts';
import { addUsedPermits } from './leases.ts';
import type { PermitLedger } from './ledger.ts';

/** A click that used a permit. */
type Use = { sequence: bigint; linkId: string; visitor: string };

/**
 * Reads the journal of one ingest process as a lane does, and counts what was used in the transaction that advances it.
 */
export class PermitWorker {
  readonly process: Process;
  violation: Violation | null = null;
  readonly #world: World;
  readonly #place: IngestPlace;
  readonly #ledger: PermitLedger;
  readonly #lagMs: number;

  /** @param lagMs longest time between reading clicks and storing them */
  constructor(world: World, place: IngestPlace, ledger: PermitLedger, lagMs: number) {
    this.#lagMs = lagMs;
    this.#world = world;
    this.#place = place;
    this.#ledger = ledger;
    this.process = world.start('worker');
    const run = () => {
      this.#run().catch((error: unknown) => {
        if (!this.process.isAlive) return;
        this.violation = asViolation(error);
      });
    };
    world.schedule(0, run, this.process);
  }

  async #run(): Promise<void> {
    const { dataDir, streamName, stream } = this.#place;
    const reader = new JournalReader(dataDir, ARENA_BYTES);
    let { offset } = stream.progress;
    for (;;) {
      const { batches, nextOffset } = await reader.read(streamName, offset, {
        maxBytes: 100_000,
        waitMs: 500,
      });
      const last = batches.at(-1);
      if (last) {
        // Taken out of the reader's memory, which the next read uses again.
        const uses = batches.flatMap((batch) => usesIn(decodeEvents(batch, testSealer).events));
        await delay(this.#world.random.between(1, this.#lagMs));
        const stored = last.firstSequence + BigInt(last.count - 1);
        if (!(await this.#advance(last.streamId, uses, { offset: nextOffset, stored }))) {
          // Whether it took place is not known: go on from where PostgreSQL is.
          await delay(100);
          ({ offset } = stream.progress);
          continue;
        }
      }
      offset = nextOffset;
      if (this.#world.random.chance(0.3)) await reader.truncate(streamName, stream.progress.offset);
    }
  }

  /** @returns whether PostgreSQL has said that it took place */
  async #advance(
    streamId: string,
    read: readonly Use[],
    to: { offset: bigint; stored: bigint },
  ): Promise<boolean> {
    const { pool, stream } = this.#place;
    const { network, table } = pool;
    const from = stream.progress.offset;
    const advance = () =>
      table.transaction(async (transaction) => {
        // A lane's position is compared and set: a transaction of an earlier life changes nothing.
        await transaction.lockLease('lane', streamId);
        if (stream.progress.offset !== from) throw new Error('another life has advanced');
        const highWater = table.streams.get(streamId)?.highWater ?? -1n;
        const uses = read.filter(({ sequence }) => sequence > highWater);
        const clicks = new Map<string, number>();
        for (const { linkId } of uses) clicks.set(linkId, (clicks.get(linkId) ?? 0) + 1);
        await addUsedPermits(
          { table, transaction },
          [...clicks].map(([linkId, count]) => ({ linkId, streamId, clicks: count })),
        );
        transaction.write(() => {
          for (const { linkId, visitor } of uses) this.#ledger.stored(linkId, visitor);
          const stored = to.stored > highWater ? to.stored : highWater;
          table.streams.set(streamId, { isActive: true, highWater: stored });
          stream.commit({ streamId, offset: to.offset, stored, visibleBefore: 0 });
        });
      });
    try {
      await network.ask(advance);
      return true;
    } catch {
      return false;
    }
  }
}

function visitorOf(userAgent: string): string {
  return userAgent.slice(0, userAgent.indexOf(' '));
}

function usesIn(events: readonly DecodedEvent[]): Use[] {
  return events.flatMap(({ sequence, event }) =>
    event.kind === 'click' && (event.flags & CLICK_FLAGS.counted) !== 0
      ? [{ sequence, linkId: bytesToUuid(event.linkId), visitor: visitorOf(event.userAgent) }]
      : [],
  );
}
