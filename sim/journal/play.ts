import { Registry } from 'prom-client';
import { openJournal } from '../../core/event-log/journal/open-journal.ts';
import type { JournalWriter } from '../../core/event-log/journal/writer.ts';
import { TEST_STREAM_NAME, testClick, testSealer } from '../../test/support/journal.ts';
import { type Counts, type Outcome, Violation } from '../history.ts';
import { type Player as HistoryPlayer, playHistory } from '../play-history.ts';
import { NO_FAULTS } from '../world/disk.ts';
import { collectingLogger } from '../world/log.ts';
import { RegisteredStream } from '../world/registered-stream.ts';
import { Killed, type Process, type World } from '../world/world.ts';
import { ClickLedger } from './ledger.ts';
import { type JournalHistory, type JournalOptions, type Step, words } from './steps.ts';
import { DATA_DIR, Worker } from './worker.ts';

const JOURNAL = `${DATA_DIR}/journal`;

/**
 * Longest time from the response to a click to its sync when `JOURNAL_SYNC` is not `always`. It is the sum of the
 * interval, a running sync, the click's own sync, and the waits of the event loop. Milliseconds.
 */
const UNSYNCED_MS = 150;
/** The same on a disk whose syncs take seconds. */
const SLOWLY_UNSYNCED_MS = 20_000;

/** Bounds of the end, when no fault is left. Virtual milliseconds. */
const RECOVERS_WITHIN_MS = 30_000;

/**
 * A start takes the next epoch, or that of its minute. So a copy must not miss more starts than minutes have passed.
 */
const EPOCH_MS = 60_000;

type Running = { process: Process; writer: JournalWriter; hasSyncErrors: boolean };

/** Plays a history of the journal. */
export function play(history: JournalHistory, log?: (line: string) => void): Promise<Outcome> {
  const create = (world: World) => new Player(world, history.options);
  return playHistory(history, { salt: 0x51_7e_a1, words, create }, log);
}

class Player implements HistoryPlayer<Step> {
  readonly #ledger = new ClickLedger();
  #starts = 0;
  #kills = 0;
  readonly #world: World;
  readonly #options: JournalOptions;
  readonly #stream: RegisteredStream;
  #worker: Worker;
  #running: Running | null = null;
  #clickNumber = 0;
  #copy: { files: Map<string, Uint8Array | null>; at: number } | null = null;
  #wasSlow = false;
  /** Whether no start has succeeded since the last power cut. */
  #hasLostHeartbeats = false;
  /** When an ingest process ended whose journal no later start has synced yet. Milliseconds of the monotonic clock. */
  #endedAt: number | null = null;

  constructor(world: World, options: JournalOptions) {
    this.#world = world;
    this.#options = options;
    this.#stream = new RegisteredStream(world);
    this.#worker = this.#startWorker();
  }

  async step(step: Step): Promise<void> {
    await this.#do(step);
    this.#assertWhole();
  }

  counts(): Counts {
    return {
      ...this.#world.disk.counts,
      clicks: this.#ledger.clicks,
      starts: this.#starts,
      kills: this.#kills,
    };
  }

  async #do(step: Step): Promise<void> {
    const world = this.#world;
    const { disk } = world;
    switch (step.do) {
      case 'append':
        await this.#append(step.clicks);
        return;
      case 'wait':
        await world.run(step.ms);
        return;
      case 'kill ingest':
        if (step.afterOperations === null) this.#kill();
        else if (this.#running) this.#running.process.operationsLeft = step.afterOperations;
        return;
      case 'kill worker':
        world.end(this.#worker.process);
        this.#worker = this.#startWorker();
        return;
      case 'stop ingest':
        await this.#stop();
        return;
      case 'start second':
        await this.#startSecond();
        return;
      case 'cut power':
        await this.#cutPower(step.afterOperations);
        return;
      case 'fill disk':
        disk.faults.freeBytes = step.freeBytes;
        return;
      case 'break disk':
        Object.assign(disk.faults, { writeErrors: step.writeErrors, syncErrors: step.syncErrors });
        if (this.#running) this.#running.hasSyncErrors = true;
        // Their sync is still to come, and may fail.
        for (const name of this.#ledger.writtenSince(world.monotonic() - this.#windowMs()))
          this.#unsynced.add(name);
        return;
      case 'make read-only':
        disk.faults.isReadOnly = true;
        return;
      case 'slow disk':
        world.isDiskSlow = true;
        this.#wasSlow = true;
        return;
      case 'mend disk':
        this.#mendDisk();
        return;
      case 'set clock':
        world.setWallOffset(step.ms);
        return;
      case 'sleep':
        world.sleep(step.ms);
        return;
      case 'stop PostgreSQL':
        this.#stream.isDown = true;
        return;
      case 'start PostgreSQL':
        this.#stream.isDown = false;
        return;
      case 'fail PostgreSQL over':
        this.#stream.goBack();
        world.end(this.#worker.process);
        this.#worker = this.#startWorker();
        return;
      case 'copy files':
        this.#copy = { files: disk.copy(JOURNAL), at: world.monotonic() };
        return;
      case 'restore files':
        this.#restore();
        return;
    }
  }

  async #append(clicks: number): Promise<void> {
    const running = await this.#ensureRunning(5_000);
    if (!running) return;
    const { process, writer } = running;
    const world = this.#world;
    world.schedule(
      0,
      () => {
        for (let click = 0; click < clicks; click++) {
          if (!process.isAlive) return;
          const name = `c${this.#clickNumber++}`;
          this.#ledger.asked(name);
          writer.append(
            testClick(`${name} ${'x'.repeat(this.#options.clickBytes)}`, { referer: '' }),
            (outcome) => {
              // The response of a process that was killed meanwhile is lost.
              if (!process.isAlive) return;
              world.note(`${name} ${outcome}`);
              this.#ledger.answered(name, outcome, world.monotonic(), this.#mayBeStoredThoughLost(running));
              if (running.hasSyncErrors && outcome === 'written') this.#unsynced.add(name);
            },
          );
        }
      },
      process,
    );
    await world.run(0);
  }

  /** Clicks whose response came before their sync, in a life whose syncs may have failed. */
  readonly #unsynced = new Set<string>();

  #mayBeStoredThoughLost({ hasSyncErrors }: Running): string | null {
    return hasSyncErrors ? 'the disk refused to sync it; guarantees.md says so' : null;
  }

  async #ensureRunning(withinMs: number): Promise<Running | null> {
    if (this.#running?.process.isAlive) return this.#running;
    this.#running = null;
    const world = this.#world;
    const end = world.monotonic() + withinMs;
    do {
      const running = await this.#start();
      if (running) {
        this.#running = running;
        return running;
      }
      await world.run(1_000);
    } while (world.monotonic() < end);
    return null;
  }

  /** Starts the ingest process, as its supervisor does. @returns null when its journal cannot be opened */
  async #start(): Promise<Running | null> {
    const world = this.#world;
    const process = world.start('ingest');
    this.#starts += 1;
    if (this.#hasLostHeartbeats && (this.#stream.isDown || this.#stream.hasGoneBack))
      this.#ledger.forgetTimes();
    try {
      const writer = await world.call(process, () => this.#open());
      if (world.disk.faults.syncErrors === 0) this.#endedAt = null;
      this.#hasLostHeartbeats = false;
      process.onEnd.push(() => {
        this.#endedAt ??= world.monotonic();
      });
      return { process, writer, hasSyncErrors: world.disk.faults.syncErrors > 0 };
    } catch (error) {
      world.end(process);
      if (error instanceof Killed || this.#isExcused(error)) return null;
      throw error;
    }
  }

  #open(): Promise<JournalWriter> {
    const { syncMs, budgetBytes } = this.#options;
    return openJournal({
      dataDir: DATA_DIR,
      streamName: TEST_STREAM_NAME,
      register: this.#stream.register,
      recorded: this.#stream.recorded,
      syncMs,
      budgetBytes,
      sealer: testSealer,
      log: collectingLogger(this.#world),
      registry: new Registry(),
    });
  }

  /** A start may fail where the disk does, or where a new stream cannot be registered. */
  #isExcused(error: unknown): boolean {
    const { faults } = this.#world.disk;
    const hasFaults =
      faults.isReadOnly || faults.freeBytes !== null || faults.writeErrors > 0 || faults.syncErrors > 0;
    const code = error instanceof Error && 'code' in error ? error.code : null;
    return (
      (hasFaults && (code === 'EIO' || code === 'ENOSPC' || code === 'EROFS')) ||
      (this.#stream.isDown && error instanceof Error && error.message === RegisteredStream.DOWN)
    );
  }

  #kill(): void {
    const process = this.#running?.process;
    this.#running = null;
    if (!process?.isAlive) return;
    this.#kills += 1;
    this.#world.end(process);
  }

  /** How long a click with a response may be unsynced. Milliseconds. */
  #windowMs(): number {
    return this.#wasSlow ? SLOWLY_UNSYNCED_MS : UNSYNCED_MS;
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    if (!running?.process.isAlive) return;
    try {
      await this.#world.call(running.process, () => running.writer.close());
    } catch (error) {
      if (!(error instanceof Killed) && !this.#isExcused(error)) throw error;
    }
    this.#world.end(running.process);
    this.#running = null;
  }

  async #startSecond(): Promise<void> {
    const running = this.#running;
    if (!running?.process.isAlive) return;
    const second = this.#world.start('second ingest');
    let refused: unknown = null;
    try {
      await this.#world.call(second, () => this.#open());
    } catch (error) {
      refused = error;
    }
    this.#world.end(second);
    if (!running.process.isAlive) return;
    if (refused instanceof Error && refused.name === 'StreamLockedError') return;
    if (refused !== null && this.#isExcused(refused)) return;
    throw new Violation('one process writes a stream', 'a second process opened the journal');
  }

  async #cutPower(afterOperations: number | null): Promise<void> {
    const world = this.#world;
    const running = this.#running;
    if (afterOperations !== null && running?.process.isAlive) {
      running.process.operationsLeft = afterOperations;
      await world.until(() => !running.process.isAlive, 2_000);
    }
    this.#kills += 1;
    if (running) world.end(running.process);
    world.end(this.#worker.process);
    this.#running = null;
    if (this.#options.syncMs > 0) {
      const since = this.#endedAt ?? world.monotonic();
      this.#ledger.excuse(since - this.#windowMs(), 'a power cut before its sync; guarantees.md says so');
      this.#ledger.excuseNamed(this.#unsynced, 'its sync failed, and then the power was cut');
    }
    this.#endedAt = null;
    this.#ledger.mayHaveGaps = true;
    this.#hasLostHeartbeats = true;
    world.disk.cutPower();
    world.note('the power was cut');
    this.#worker = this.#startWorker();
  }

  #restore(): void {
    if (!this.#copy) return;
    this.#kill();
    this.#world.end(this.#worker.process);
    this.#world.sleep((this.#starts + 1) * EPOCH_MS);
    this.#ledger.mayRepeat = true;
    this.#ledger.excuse(this.#copy.at, 'its journal was replaced by an older copy');
    this.#mendDisk(); // a restored volume is another one
    this.#world.setWallOffset(0);
    if (this.#options.clockFaults) this.#stream.isDown = false;
    this.#world.disk.restore(JOURNAL, this.#copy.files);
    this.#worker = this.#startWorker();
  }

  #startWorker(): Worker {
    return new Worker(this.#world, this.#stream, this.#ledger, { mayDamage: () => this.#mayDamage() });
  }

  /** Only a power cut and a broken disk leave bytes that are not events. */
  #mayDamage(): boolean {
    return this.#ledger.mayHaveGaps || this.#options.diskFaults;
  }

  #mendDisk(): void {
    this.#world.disk.faults = { ...NO_FAULTS };
    this.#world.isDiskSlow = false;
  }

  #assertWhole(): void {
    const { violation } = this.#worker;
    if (violation) throw violation;
  }

  /**
   * Every fault ends. Every click with a response must be stored, and new clicks must get a response and be stored
   * soon.
   */
  async end(): Promise<void> {
    const world = this.#world;
    this.#mendDisk();
    world.setWallOffset(0);
    this.#stream.isDown = false;
    if (this.#running) this.#running.process.operationsLeft = null;
    const running = await this.#ensureRunning(RECOVERS_WITHIN_MS);
    if (!running)
      throw new Violation('a service recovers once the faults end', 'its journal cannot be opened');
    const last = await this.#appendUntilWritten();
    const isRead = await world.until(
      () => this.#ledger.has(last) || this.#worker.violation !== null,
      RECOVERS_WITHIN_MS,
    );
    this.#assertWhole();
    if (!isRead)
      throw new Violation('what is written is read', `${last} is not read within ${RECOVERS_WITHIN_MS} ms`);
    await this.#stop();
    await world.run(1_500);
    this.#assertWhole();
    this.#ledger.check();
  }

  async #appendUntilWritten(): Promise<string> {
    const end = this.#world.monotonic() + RECOVERS_WITHIN_MS;
    for (;;) {
      const name = `c${this.#clickNumber}`;
      await this.#append(1);
      await this.#world.run(500);
      if (this.#ledger.outcomeOf(name) === 'written') return name;
      if (this.#world.monotonic() > end) {
        throw new Violation('a service recovers once the faults end', `clicks are still refused: ${name}`);
      }
    }
  }
}
