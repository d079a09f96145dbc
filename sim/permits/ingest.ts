import { Registry } from 'prom-client';
import { openJournal } from '../../core/event-log/journal/open-journal.ts';
import type { JournalWriter } from '../../core/event-log/journal/writer.ts';
import { ownBatches, truncatedAhead } from '../../core/event-log/open.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { uuidToBytes } from '../../core/ids.ts';
import { readOutstanding } from '../../ingest/max-clicks/outstanding.ts';
import { createPermits, type Permits } from '../../ingest/max-clicks/permits.ts';
import { createLinkPolicy } from '../../ingest/redirect/link-policy.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { testClick, testSealer } from '../../test/support/journal.ts';
import { collectingLogger } from '../world/log.ts';
import type { RegisteredStream } from '../world/registered-stream.ts';
import type { Process, World } from '../world/world.ts';
import type { LeasePool } from './leases.ts';
import type { Outcome } from './ledger.ts';

type Policy = ReturnType<typeof createLinkPolicy>;
type Exchange = Parameters<Policy['visit']>[2];

/** How the names of visitors begin who are machines, and use no permit. */
export const BOT = 'bot';

const SEGMENTS = 8;
/** The value of `create-ingest.ts`. Milliseconds. */
const OUTSTANDING_RETRY_MS = 1_000;

/** The parts of an ingest process that all of its lives share. */
export type IngestPlace = {
  dataDir: string;
  streamName: string;
  stream: RegisteredStream;
  pool: LeasePool;
  syncMs: number;
  /** Length of what follows the name of a visitor in its user agent. */
  clickBytes: number;
};

/** A life of an ingest process: its journal, its permits, and the policy of links. */
export class Ingest {
  readonly process: Process;
  readonly streamId: string;
  readonly #writer: JournalWriter;
  readonly #permits: Permits;
  readonly #policy: Policy;
  readonly #clickBytes: number;
  #isClosing = false;

  private constructor(process: Process, world: World, place: IngestPlace, writer: JournalWriter) {
    this.process = process;
    this.#writer = writer;
    this.#clickBytes = place.clickBytes;
    const { streamId } = writer.stream;
    this.streamId = streamId;
    const pool = place.pool as unknown as Pool;
    const log = collectingLogger(world);
    this.#permits = createPermits({ pool, streamId, log });
    this.#policy = this.#createPolicy();
    const begin = () => {
      readOutstanding({
        pool,
        streamId,
        batchesAfter: (sequence) => ownBatches(place.dataDir, place.streamName, sequence),
        truncatedAhead: () => truncatedAhead(place.dataDir, place.streamName),
        sealer: testSealer,
      }).then(
        (outstanding) => this.#permits.start(outstanding),
        () => {
          if (!this.#isClosing) setTimeout(begin, OUTSTANDING_RETRY_MS);
        },
      );
    };
    begin();
  }

  /** Opens the journal, and reads what the last life has spent. Must run as `process`. */
  static async open(process: Process, world: World, place: IngestPlace): Promise<Ingest> {
    const { dataDir, streamName, stream, syncMs } = place;
    const writer = await openJournal({
      dataDir,
      streamName,
      register: stream.register,
      recorded: stream.recorded,
      syncMs,
      budgetBytes: SEGMENTS * (place.clickBytes > 0 ? 16 : 64) * 1024,
      sealer: testSealer,
      log: collectingLogger(world),
      registry: new Registry(),
    });
    return new Ingest(process, world, place, writer);
  }

  /**
   * Sends a visitor to a link.
   *
   * @param maxClicks the value in this process's table
   * @param leavesAfterMs when the visitor leaves without a response; null: never
   */
  visit(
    given: { linkId: string; visitor: string; maxClicks: number; leavesAfterMs: number | null },
    onAnswer: (outcome: Outcome) => void,
  ): void {
    const { linkId, visitor, maxClicks, leavesAfterMs } = given;
    const exchange = {
      over: false,
      answer: (outcome: Outcome) => {
        if (exchange.over || !this.process.isAlive) return;
        exchange.over = true;
        onAnswer(outcome);
      },
    };
    const link = {
      idText: linkId,
      id: uuidToBytes(linkId),
      maxClicks,
      expiresAt: null,
      passwordHash: null,
      expiredRedirectUrl: null,
    };
    const userAgent = `${visitor} ${'x'.repeat(this.#clickBytes)}`;
    const visit = { userAgent, cookie: '', referer: '', flags: 0, host: null, isFramed: false };
    if (leavesAfterMs !== null) {
      setTimeout(() => {
        exchange.over = true;
      }, leavesAfterMs);
    }
    this.#policy.visit(link as never, visit as never, exchange as unknown as Exchange);
  }

  /** Ends like a process that is asked to stop: it returns its permits and closes the journal. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#permits.close();
    await this.#writer.close();
  }

  #createPolicy(): Policy {
    const permits = this.#permits;
    const answer = (exchange: Exchange, outcome: Outcome) =>
      (exchange as unknown as { answer(outcome: Outcome): void }).answer(outcome);
    const page = { headers: [], body: '' };
    return createLinkPolicy({
      permits,
      exchanges: {
        reply: (exchange: Exchange, status: string) =>
          answer(exchange, status.startsWith('410') ? 'spent' : 'unavailable'),
        after: <T>(_: Exchange, awaited: Promise<T>, step: (value: T) => void) => void awaited.then(step),
      },
      recordAndRedirect: ({ link, visit, exchange, counted }: Recorded) => {
        const click = testClick(visit.userAgent, {
          linkId: link.id,
          flags: counted ? CLICK_FLAGS.counted : 0,
        });
        this.#writer.append(click, (outcome) => {
          if (outcome === 'written') return answer(exchange, 'redirected');
          // The same as `refuse` in `create-ingest.ts`.
          permits.release(link.idText);
          answer(exchange, 'unavailable');
        });
        this.#writer.flush();
      },
      metrics: { countOutcome: () => undefined, countLeaseWait: () => undefined },
      pages: { of: () => ({ gone: page, unavailable: page, blocked: page }) },
      agentKinds: (userAgent: string) => ({ bot: userAgent.startsWith(BOT) }),
      domains: { blocks: () => false },
      mayPass: () => true,
    } as never);
  }
}

type Recorded = {
  link: { idText: string; id: Buffer };
  visit: { userAgent: string };
  exchange: Exchange;
  counted: boolean;
};
