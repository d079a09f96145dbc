import { partitionOf } from '../../core/event-log/kafka/partitions.ts';
import type { StreamIdentity } from '../../core/event-log/port.ts';
import { bytesToUuid, uuidToBytes } from '../../core/ids.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { createClient } from '../clickhouse/client.ts';
import { ClickHouseServer } from '../clickhouse/server.ts';
import { Database } from '../postgres/database.ts';
import { createPool } from '../postgres/pool.ts';
import { Network } from '../world/network.ts';
import { Killed, type World } from '../world/world.ts';
import { LaneRows } from './lane-rows.ts';
import { LaneLedger } from './ledger.ts';
import { createReader, Log, type Partition } from './log.ts';
import { Poller } from './poller.ts';
import { Shipper } from './shipper.ts';
import type { LaneOptions, Server } from './steps.ts';
import { LaneWorker, type Place } from './worker.ts';
import { Writer } from './writer.ts';

/** Streams of a history at most: those that begin in it have partitions of a journal too. */
const MOST_STREAMS = 5;
/** Time until a supervisor starts a process again. Milliseconds. */
const RESTARTS_WITHIN_MS = 1_500;
/** Clocks of writers differ by up to this. Milliseconds. */
const SKEW_MS = 1_500;

const namesOf = (partitions: number) =>
  Array.from({ length: partitions }, (_, partition) => `hoplog.events.v1/${partition}`);

type Worker = { place: Place; life: LaneWorker; clockOffset: number };

/** The parts of a deployment: workers, writers, a poller, and what they share. */
export class Deployment {
  readonly ledger = new LaneLedger();
  readonly database: Database;
  readonly clickhouse: ClickHouseServer;
  readonly log: Log;
  readonly rows: LaneRows;
  readonly networks: Readonly<Record<Server | 'log', Network>>;
  readonly poller: Poller;
  readonly writers: Writer[] = [];
  readonly workers: Worker[] = [];
  starts = 0;
  readonly #world: World;
  readonly #options: LaneOptions;

  constructor(world: World, options: LaneOptions) {
    this.#world = world;
    this.#options = options;
    this.database = new Database(world);
    this.clickhouse = new ClickHouseServer(world, options.window);
    const isJournal = options.log === 'journal';
    const names = isJournal
      ? Array.from({ length: MOST_STREAMS }, (_, stream) => `ingest-${stream}`)
      : namesOf(options.partitions);
    this.log = new Log(names, isJournal);
    this.networks = {
      PostgreSQL: new Network(world, this.database.process),
      ClickHouse: new Network(world, this.clickhouse.process),
      log: new Network(world, world.start('log')),
    };
    this.rows = new LaneRows(world, this.database, this.ledger);
    this.clickhouse.onStored = (clicks) => {
      world.note(`stores ${clicks.length === 1 ? '1 row' : `${clicks.length} rows`}`);
      this.ledger.stored(clicks);
    };
    this.clickhouse.isRefused = (click) => this.ledger.isPoisoned(click);
    this.log.onTruncated = (records) => this.#truncated(records);
    const pool = createPool(this.database, this.networks.PostgreSQL);
    // The poller is outside of the faults of workers' networks.
    const own = new Network(world, this.database.process);
    this.poller = new Poller(world, {
      pool: createPool(this.database, own),
      server: this.clickhouse,
      network: new Network(world, this.clickhouse.process),
    });
    for (let index = 0; index < options.workers; index++) {
      const place: Place = {
        host: options.oneHost ? 'host' : `host-${index}`,
        pool,
        clickhouse: createClient(this.clickhouse, this.networks.ClickHouse, (token) =>
          this.rows.sends(token),
        ),
        reader: createReader(world, this.log, this.networks.log),
        lingerMs: options.lingerMs,
      };
      this.workers.push({ place, life: this.#startWorker(index, place, 0), clockOffset: 0 });
    }
  }

  /** Starts the writer of a new stream, once it is registered. */
  async startStream(): Promise<void> {
    const number = this.writers.length;
    if (number >= MOST_STREAMS) return;
    const world = this.#world;
    const process = world.start(`writer-${number}`);
    const id = uuidToBytes('01900000-0000-7000-8000-000000000000');
    id[15] = number + 1;
    const own = createPool(this.database, new Network(world, this.database.process));
    const name = `ingest-${number}`;
    try {
      const stream = await world.call(process, () => registerStream(own, name, bytesToUuid(id)));
      const life = world.start(`writer-${stream.ordinal}`);
      const shipper = new Shipper(world, {
        process: life,
        streamId: stream.streamId,
        pool: own,
        home: () => this.#partitionFor(stream, name),
      });
      this.writers.push(
        new Writer(world, {
          process: life,
          stream,
          shipper,
          ledger: this.ledger,
          skewMs: world.random.between(-SKEW_MS, SKEW_MS),
          heartbeatMs: this.#options.heartbeatMs,
        }),
      );
      this.database.forgetHistory();
    } catch (error) {
      if (!(error instanceof Killed) && !this.database.isDown) throw error;
    } finally {
      world.end(process);
    }
  }

  #partitionFor(stream: StreamIdentity, name: string): Partition {
    const { partitions, isJournal } = this.log;
    if (isJournal) return this.log.partition(name);
    const found = partitions[partitionOf(stream, partitions.length)];
    if (!found) throw new RangeError(`no partition of stream ${stream.ordinal}`);
    return found;
  }

  addPartitions(total: number): void {
    if (!this.log.isJournal) this.log.add(namesOf(total));
  }

  #startWorker(index: number, place: Place, clockOffset: number): LaneWorker {
    this.starts += 1;
    const pid = this.#options.sameName ? index + 1 : this.starts + 1;
    const life = new LaneWorker(this.#world, `worker-${index}`, place, { pid, clockOffset });
    life.process.onEnd.push(() => {
      const { random, outside } = this.#world;
      this.#world.schedule(random.between(50, RESTARTS_WITHIN_MS), () => this.#restart(index), outside);
    });
    return life;
  }

  #restart(index: number): void {
    const worker = this.workers[index];
    if (worker) worker.life = this.#startWorker(index, worker.place, worker.clockOffset);
  }

  #truncated(records: ReturnType<Partition['truncate']>): void {
    for (const record of records) {
      if (!('batch' in record)) continue;
      const { streamId, firstSequence, count } = record.batch;
      const writer = this.writers.find(({ stream }) => stream.streamId === streamId);
      // A reader must not truncate what is not stored, so only retention excuses a loss.
      if (writer && !this.log.isJournal) this.ledger.lost(writer.stream.ordinal, firstSequence, count);
    }
  }
}
