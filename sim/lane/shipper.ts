import { allStored, type Told } from '../../core/event-log/kafka/all-stored.ts';
import { LOOK_FOR_PARTITIONS_MS } from '../../core/event-log/kafka/partitions.ts';
import { storedUpTo } from '../../core/event-log/port.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { laneOffsets } from '../../sql/event-log/lanes.ts';
import { readStreams } from '../../sql/event-log/streams.ts';
import { setTimeout as delay } from '../modules/timers-promises.ts';
import type { Process, Task, World } from '../world/world.ts';
import type { Batch, Partition } from './log.ts';

/** As ingest sends its batches. Milliseconds. */
const LONGEST_WAY_MS = 30;
/** Pause between batches that a new process sends again, while brokers are slow. Milliseconds. */
const SLOW_MS = 3_000;
/** How often a process reads what workers have stored of its stream. Milliseconds. */
const ASK_EVERY_MS = 1_000;
/** Batches that a killed process has sent at most, without a record of it. */
const UNRECORDED = 12;

/**
 * Sends the batches of a stream to its partition, in order, and moves the stream when it belongs to another one. The
 * product's own file decides when it may move.
 */
export class Shipper {
  partition: Partition;
  readonly #world: World;
  readonly #process: Process;
  readonly #streamId: string;
  readonly #pool: Pool;
  /** Returns the partition that the stream belongs to. */
  readonly #home: () => Partition;
  readonly #journal: Batch[] = [];
  #next = 0;
  /** What this process sends again, up to here, it sends slowly. */
  #againUpTo = 0;
  #look: Task;
  #isMoving = false;
  #onTheWay = 0;
  /** Batches arrive in order. */
  #arrivesAt = 0;
  #told: Told = { needs: storedUpTo(-1n), fill: 0 };

  constructor(
    world: World,
    given: { process: Process; streamId: string; pool: Pool; home: () => Partition },
  ) {
    this.#world = world;
    this.#process = given.process;
    this.#streamId = given.streamId;
    this.#pool = given.pool;
    this.#home = given.home;
    this.partition = given.home();
    this.#look = this.#lookLater();
  }

  /** Each process looks for the first time when it has run for as long. */
  #lookLater(): Task {
    const look = () => {
      void this.#moveIfDue();
      this.#look = this.#lookLater();
    };
    return this.#world.schedule(LOOK_FOR_PARTITIONS_MS, look, this.#process);
  }

  send(batch: Batch): void {
    this.#journal.push(batch);
    this.#sendMore();
  }

  /** Sends the last batches again, as a producer does that got no response. */
  repeat(batches: number): void {
    for (const batch of this.#journal.slice(0, this.#next).slice(-batches)) this.#sendNow(batch);
  }

  /** Another process sends again what it does not know as sent. */
  restart(): void {
    this.#look.isCancelled = true;
    this.#look = this.#lookLater();
    this.#againUpTo = this.#next;
    this.#next = Math.max(0, this.#next - this.#world.random.integer(0, UNRECORDED));
    this.#sendMore();
  }

  #sendMore(): void {
    while (!this.#isMoving) {
      const batch = this.#journal[this.#next];
      if (!batch) return;
      this.#next += 1;
      this.#sendNow(batch);
      if (this.#next >= this.#againUpTo) continue;
      this.#world.schedule(
        this.#world.random.between(0, SLOW_MS),
        () => this.#sendMore(),
        this.#world.outside,
      );
      return;
    }
  }

  #sendNow(batch: Batch): void {
    const { partition } = this;
    const at = this.#world.monotonic() + this.#world.random.between(0, LONGEST_WAY_MS);
    this.#arrivesAt = Math.max(this.#arrivesAt, at);
    this.#onTheWay += 1;
    const arrive = () => {
      this.#onTheWay -= 1;
      partition.append(batch);
    };
    this.#world.schedule(this.#arrivesAt - this.#world.monotonic(), arrive, this.#world.outside);
  }

  async #moveIfDue(): Promise<void> {
    const home = this.#home();
    if (this.#isMoving || home === this.partition) return;
    this.#isMoving = true;
    void this.#ask();
    while (this.#onTheWay > 0) await delay(LONGEST_WAY_MS);
    const last = this.#journal[this.#next - 1];
    const sequence = last ? last.batch.firstSequence + BigInt(last.batch.count) - 1n : -1n;
    const { name, shownEnd } = this.partition;
    const sent = { sequence, partition: name, end: shownEnd };
    const mayMove = await allStored(sent, () => this.#told, new AbortController().signal);
    if (mayMove) {
      this.#world.note(`moves from ${name} to ${home.name}`);
      this.partition = home;
    }
    this.#isMoving = false;
    this.#sendMore();
  }

  /** Reads what workers have stored, while the stream moves. */
  async #ask(): Promise<void> {
    while (this.#isMoving) {
      const { name } = this.partition;
      try {
        const streams = await readStreams(this.#pool);
        const offsets = await laneOffsets(this.#pool, name);
        const stream = streams.find(({ streamId }) => streamId === this.#streamId);
        const reached = new Map([[name, offsets?.least ?? 0n]]);
        this.#told = { needs: { stored: stream?.highWater ?? -1n, missing: [], reached }, fill: 0 };
      } catch {
        // PostgreSQL does not respond: what it said before holds.
      }
      await delay(ASK_EVERY_MS);
    }
  }
}
