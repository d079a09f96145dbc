import type { Registry } from 'prom-client';
import type { AddressSealer } from '../../events/address-seal.ts';
import type { Unstamped } from '../../events/types.ts';
import type { Logger } from '../../tier/log.ts';
import type { WallClock } from '../../time/wall-clock.ts';
import type { Appended, AppendOutcome, EventLogWriter, Loss, StreamIdentity } from '../port.ts';
import { BatchBuffer } from './batch-buffer.ts';
import { ClockWatch } from './clock-watch.ts';
import type { EpochFile } from './epoch-file.ts';
import { FRAME_HEADER_BYTES, MAX_PAYLOAD_BYTES } from './frame.ts';
import { GroupSync, type Settled } from './group-sync.ts';
import { Heartbeats } from './heartbeats.ts';
import { LossReport } from './loss-report.ts';
import { createJournalMetrics, type JournalMetrics, type LossCause } from './metrics.ts';
import type { Recovered } from './recovery.ts';
import { finishSegment } from './segment-file.ts';
import type { SegmentSupply } from './segment-supply.ts';
import { SegmentWriter } from './segment-writer.ts';
import { type ClockCorrection, StreamClock } from './stream-clock.ts';

/** Heartbeats between two counts of the segments while no event is written. */
const QUIET_RECOUNT_BEATS = 8;

const HEARTBEAT: Unstamped = { kind: 'heartbeat' };

export type JournalWriterOptions = {
  directory: string;
  stream: StreamIdentity;
  /** Longest time that a written event may wait for `fdatasync`, in milliseconds; 0: synced before it settles. */
  syncMs: number;
  segmentBytes: number;
  /** Age of its first event at which a segment is closed. Milliseconds. */
  segmentAgeMs: number;
  sealer: AddressSealer;
  clock: WallClock;
  isClockResetRequested: (streamId: string) => Promise<boolean>;
  log: Logger;
  registry: Registry;
};

/** The files of an opened directory. */
export type JournalFiles = {
  recovered: Recovered;
  epochFile: EpochFile;
  supply: SegmentSupply;
  lock: { release(): void };
};

/**
 * Writes a stream's journal. Events are encoded as they come. At the end of the event-loop turn they become one frame
 * and one write, and their appends settle. `written` is safe from the end of this process and, with `syncMs` 0, from
 * a power cut. Heartbeats alone are synced within a minute. `lost` means that the budget or the disk rejected them.
 * Each turn tries again, so the journal recovers once there is room.
 *
 * Events that were written and not synced settle as `lost`, but stay: readers may have them already, and removing
 * them would leave a gap in the sequences.
 *
 * `append` never throws. The sequence and time that it returns are void when the event settles as `lost`.
 */
export class JournalWriter implements EventLogWriter {
  readonly stream: StreamIdentity;
  readonly #files: JournalFiles;
  readonly #log: Logger;
  readonly #metrics: JournalMetrics;
  readonly #clock: StreamClock;
  readonly #clockWatch: ClockWatch;
  readonly #batch: BatchBuffer;
  readonly #sync: GroupSync;
  readonly #heartbeats: Heartbeats;
  readonly #syncFirst: boolean;
  /** Whether the batch is synced before it settles. */
  #syncsTurn = false;
  readonly #segments: SegmentWriter;
  #appends: Settled[] = [];
  #turn: { appends: Settled[]; outcome: AppendOutcome }[] = [];
  #turnEnd: NodeJS.Immediate | null = null;
  readonly #loss: LossReport;
  #closed = false;
  #beats = 0;
  /** Whether an event was written since the segments were counted. */
  #hasNews = true;

  constructor(options: JournalWriterOptions, files: JournalFiles) {
    const { stream, sealer, clock, log, registry } = options;
    this.stream = stream;
    this.#files = files;
    this.#log = log;
    this.#metrics = createJournalMetrics(
      registry,
      () => this.fill(),
      () => this.#clock.ahead(),
      options.directory,
    );
    this.#loss = new LossReport(log);
    this.#metrics.damagedBytes.inc(files.recovered.damagedBytes);
    const maxPayload = Math.min(MAX_PAYLOAD_BYTES, Math.floor(options.segmentBytes / 2) - FRAME_HEADER_BYTES);
    this.#batch = new BatchBuffer(stream.streamId, files.recovered.epoch, maxPayload, sealer);
    const { lastTs: last, jump, owed } = files.recovered;
    this.#clock = new StreamClock(clock, { last, jump, sequence: this.#batch.nextSequence });
    this.#clockWatch = new ClockWatch({
      clock: this.#clock,
      owed,
      nextSequence: () => this.#batch.nextSequence,
      resetAsked: () => options.isClockResetRequested(stream.streamId),
      flush: this.flush,
      keepOwed: (correction) => this.#keepOwed(correction),
      write: (correction, done) => this.#writeCorrection(correction, done),
      keep: () => this.#keepClock(),
      log,
    });
    this.#sync = new GroupSync({
      intervalMs: options.syncMs,
      metrics: this.#metrics,
      log,
      settle: (appends, outcome) => {
        if (outcome === 'lost') this.#metrics.lost.inc({ cause: 'sync' }, appends.length);
        this.#settle(appends, outcome);
      },
      onFailure: (file) => this.#segments.giveUp(file),
    });
    this.#segments = new SegmentWriter({
      supply: files.supply,
      segmentAgeMs: options.segmentAgeMs,
      loss: this.#loss,
      metrics: this.#metrics,
      log,
      finished: (file) => this.#sync.finished(file),
    });
    this.#syncFirst = options.syncMs === 0;
    this.#heartbeats = new Heartbeats(options.directory, () => {
      this.#clockWatch.look();
      this.#segments.closeOld();
      this.#beat();
    });
    files.supply.prepare();
  }

  append(event: Unstamped, settled: Settled): Appended {
    if (this.#heartbeats.isResting) this.#rouse();
    const ts = this.#nextTime();
    const sequence = this.#closed ? 'closed' : this.#add(event, ts);
    this.#turnEnd ??= setImmediate(this.flush);
    if (typeof sequence === 'bigint') {
      this.#appends.push(settled);
      return { sequence, ts };
    }
    this.#refuse(sequence, [settled]);
    return { sequence: this.#batch.nextSequence, ts };
  }

  readonly flush = (): void => {
    if (this.#turnEnd) clearImmediate(this.#turnEnd);
    this.#turnEnd = null;
    this.#writeBatch(true);
    const turn = this.#turn;
    this.#turn = [];
    for (const { appends, outcome } of turn) this.#settle(appends, outcome);
  };

  fill(): number {
    return this.#files.supply.fill();
  }

  loss(): Loss | null {
    return this.#loss.current();
  }

  /** Always true: workers read the journal itself. */
  ready(): boolean {
    return true;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#heartbeats.close();
    this.#beat();
    this.#closed = true;
    const { supply, epochFile, lock } = this.#files;
    try {
      await this.#sync.drain();
      await supply.close();
      finishSegment(supply.current);
      this.#keepClock();
    } finally {
      epochFile.close();
      lock.release();
    }
  }

  /**
   * Returns the time of the next event. An owed correction is written before that event, in the same batch. Otherwise a
   * time below the previous one would be behind the watermark, and pollers would miss the event.
   */
  #nextTime(): number {
    if (this.#clockWatch.isDue) this.#clockWatch.writeOwed();
    return this.#clock.next();
  }

  /** Adds a correction, which tells consumers which times to correct, to a batch that is synced before it settles. */
  #writeCorrection(correction: ClockCorrection, done: (isWritten: boolean) => void): void {
    const { first, before, ...times } = correction;
    const event: Unstamped = { kind: 'clock', first: String(first), before: String(before), ...times };
    const sequence = this.#add(event, this.#clock.next());
    if (typeof sequence !== 'bigint') {
      done(false);
      return;
    }
    this.#appends.push((outcome) => done(outcome === 'written'));
    this.#syncsTurn = true;
    this.#turnEnd ??= setImmediate(this.flush);
  }

  #keepOwed(owed: ClockCorrection): void {
    const { epochFile, recovered } = this.#files;
    const { epoch, start: floor } = recovered;
    epochFile.write({ epoch, floor, lastTs: owed.toTs - owed.shift, jump: null, owed });
  }

  #keepClock(): void {
    const { epochFile, recovered } = this.#files;
    epochFile.write({
      epoch: recovered.epoch,
      floor: recovered.start,
      lastTs: this.#clock.next(),
      jump: this.#clock.jump,
      owed: this.#clockWatch.owed,
    });
  }

  /** Returns the stream's next sequence, or why the event gets none. */
  #add(event: Unstamped, ts: number): bigint | LossCause {
    try {
      const sequence = this.#batch.add(event, ts);
      if (sequence !== null) return sequence;
      if (this.#batch.count === 0) return 'too_large';
      this.#writeBatch(false);
      return this.#batch.add(event, ts) ?? 'too_large';
    } catch (error) {
      this.#log.error({ err: error, kind: event.kind }, 'an event does not match its schema; it is lost');
      return 'invalid';
    }
  }

  /** The clock was not checked for some seconds; the machine may have slept. */
  #rouse(): void {
    this.#heartbeats.rouse();
    this.#clockWatch.look();
  }

  #beat(): void {
    this.#add(HEARTBEAT, this.#nextTime());
    this.flush();
    this.#beats += 1;
    if (!this.#hasNews && this.#beats % QUIET_RECOUNT_BEATS !== 0) return;
    this.#hasNews = false;
    this.#files.supply.recount().catch((error: unknown) => {
      this.#log.warn({ err: error }, 'failed to count the segments of the journal; will retry');
    });
  }

  /** @param atTurnEnd false while an event is added: appends that settle then may append again */
  #writeBatch(atTurnEnd: boolean): void {
    if (this.#batch.count === 0) return;
    const appends = this.#appends;
    this.#appends = [];
    const hasCorrection = this.#syncsTurn;
    const syncsFirst = this.#syncFirst || hasCorrection;
    this.#syncsTurn = false;
    const cause = this.#segments.write(this.#batch);
    if (cause) {
      this.#batch.discard();
      this.#refuse(cause, appends);
      return;
    }
    this.#loss.end(appends.length > 0);
    this.#batch.next();
    this.#metrics.events.inc(appends.length);
    const segment = this.#files.supply.current;
    // Otherwise a power cut could take the correction, and keep later events that are behind the watermark without it.
    if (hasCorrection) this.#sync.syncNow(segment);
    if (appends.length === 0) {
      this.#sync.writtenLazily(segment); // heartbeats: no visitor waits for them
      return;
    }
    this.#hasNews = true;
    this.#heartbeats.noteEvent();
    this.#segments.noteEvent();
    if (syncsFirst) {
      this.#sync.writtenFor(segment, appends, atTurnEnd);
      return;
    }
    this.#sync.written(segment);
    this.#turn.push({ appends, outcome: 'written' });
  }

  #refuse(cause: LossCause, appends: Settled[]): void {
    this.#metrics.lost.inc({ cause }, appends.length);
    this.#loss.count(appends.length);
    this.#turn.push({ appends, outcome: 'lost' });
  }

  #settle(appends: Settled[], outcome: AppendOutcome): void {
    for (const settled of appends) {
      try {
        settled(outcome);
      } catch (error) {
        this.#log.error({ err: error }, 'the callback of an append has thrown');
      }
    }
  }
}
