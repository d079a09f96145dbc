import { Registry } from 'prom-client';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { testSealer } from '../../test/support/journal.ts';
import { createIdlePause } from '../../workers/idle-pause.ts';
import { createWaiting } from '../../workers/jobs/waiting.ts';
import { createIdleLanes } from '../../workers/lane/idle-lanes.ts';
import { keepLeases, type Leases } from '../../workers/lane/leases.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';
import { startWebhooks, type Webhooks } from '../../workers/webhooks/webhooks.ts';
import { collectingLogger } from '../world/log.ts';
import type { Process, World } from '../world/world.ts';

const DRAIN_MS = 2_000;
/** Also of one that stands still meanwhile. */
const STOPS_WITHIN_MS = 300_000;
/** As in `createWorkers`. */
const IDLE_POLL_MS = 1_000;
const enricher = createEnricher({ geo: emptyGeo() });

/** Where a worker runs, whatever its life. */
export type Place = { host: string; pool: Pool; reader: EventLogReader };

/** A life of a worker process that delivers webhooks and credits. */
export class DeliveryWorker {
  readonly process: Process;
  readonly #world: World;
  #webhooks: Webhooks | null = null;
  #leases: Leases | null = null;

  constructor(world: World, name: string, place: Place, given: { pid: number; clockOffset: number }) {
    this.#world = world;
    this.process = world.start(name, { host: place.host, pid: given.pid });
    this.process.clockOffset = given.clockOffset;
    world.schedule(0, () => this.#start(place), this.process);
  }

  /** Ends as a stopped process does: attempts under way end, or are cut off. */
  async stop(): Promise<void> {
    const [webhooks, leases] = [this.#webhooks, this.#leases];
    const stopping = async () => {
      await webhooks?.stop(DRAIN_MS);
      await leases?.stop();
    };
    await this.#world.call(this.process, stopping, STOPS_WITHIN_MS);
    this.#world.end(this.process);
  }

  /** As `createWorkers` does. */
  #start({ pool, reader }: Place): void {
    const { host, pid } = this.process;
    const leases = keepLeases(pool);
    this.#leases = leases;
    const registry = new Registry();
    const pause = createIdlePause(IDLE_POLL_MS);
    const dependencies = {
      pool,
      leases,
      reader,
      decode: (batch: Parameters<typeof decodeEvents>[0]) => decodeEvents(batch, testSealer),
      enricher,
      quiet: createIdleLanes(),
      log: collectingLogger(this.#world),
      registry,
      workerMetrics: createWorkerMetrics(registry),
      pause,
      waits: createWaiting({ pool, pause, now: Date.now }),
      options: {
        allowPrivate: false,
        shortUrl: 'https://go.example',
        stripeApiBase: 'https://stripe.example',
      },
      // For the lanes, which take it as it is.
      holder: `${host}/${pid}`,
    };
    this.#webhooks = startWebhooks(dependencies);
  }
}
