import { Registry } from 'prom-client';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { MAIN_REPLICA } from '../../core/settings/replicas.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { testSealer } from '../../test/support/journal.ts';
import { createIdleLanes } from '../../workers/lane/idle-lanes.ts';
import { runLane } from '../../workers/lane/lane.ts';
import { type Lanes, startLanes } from '../../workers/lane/lanes.ts';
import { keepLeases, type Leases } from '../../workers/lane/leases.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';
import { collectingLogger } from '../world/log.ts';
import type { Process, World } from '../world/world.ts';

const DRAIN_MS = 2_000;
const enricher = createEnricher({ geo: emptyGeo() });

/** Where a worker runs in each of its lives. */
export type Place = {
  host: string;
  pool: Pool;
  clickhouse: ClickHouseClient;
  reader: EventLogReader;
  lingerMs: number;
};

/** A life of a worker process: its leases, and its share of the lanes. */
export class LaneWorker {
  readonly process: Process;
  readonly #world: World;
  #lanes: Lanes | null = null;
  #leases: Leases | null = null;

  constructor(world: World, name: string, place: Place, given: { pid: number; clockOffset: number }) {
    this.#world = world;
    this.process = world.start(name, { host: place.host, pid: given.pid });
    this.process.clockOffset = given.clockOffset;
    world.schedule(0, () => this.#start(place), this.process);
  }

  /** Ends like a process that is asked to stop: it stores what it has read. */
  async stop(): Promise<void> {
    const [lanes, leases] = [this.#lanes, this.#leases];
    await this.#world.call(this.process, async () => {
      await lanes?.stop(DRAIN_MS);
      await leases?.stop();
    });
    this.#world.end(this.process);
  }

  /** As `createWorkers` does. */
  #start({ pool, clickhouse, reader, lingerMs }: Place): void {
    const { host, pid } = this.process;
    const leases = keepLeases(pool);
    this.#leases = leases;
    const shared = {
      pool,
      replicas: [{ name: MAIN_REPLICA, clickhouse }],
      reader,
      decode: (batch: Parameters<typeof decodeEvents>[0]) => decodeEvents(batch, testSealer),
      enricher,
      pace: { lingerMs: () => lingerMs },
      quiet: createIdleLanes(),
      metrics: createWorkerMetrics(new Registry()),
      log: collectingLogger(this.#world),
    };
    this.#lanes = startLanes({
      ...shared,
      leases,
      consumer: 'store',
      holder: `${host}/${pid}`,
      run: (lane, control, log) => runLane({ ...shared, log }, lane, control),
    });
  }
}
