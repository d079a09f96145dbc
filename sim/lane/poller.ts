import type { Pool } from '../../sql/database/pool.ts';
import { watermark } from '../../sql/event-log/streams.ts';
import type { ClickHouseServer } from '../clickhouse/server.ts';
import { setTimeout as delay } from '../modules/timers-promises.ts';
import type { Network } from '../world/network.ts';
import type { Process, World } from '../world/world.ts';

const EVERY_MS = 400;

/** Polls as the documents describe: the watermark of one poll is `since` of the next one. */
export class Poller {
  readonly process: Process;
  /** The events that it got. */
  readonly seen = new Set<string>();
  #since = 0;

  constructor(world: World, given: { pool: Pool; server: ClickHouseServer; network: Network }) {
    this.process = world.start('poller');
    world.schedule(0, () => void this.#run(given), this.process);
  }

  async #run({ pool, server, network }: ConstructorParameters<typeof Poller>[1]): Promise<void> {
    for (;;) {
      try {
        // The watermark is read before the query that it is returned with.
        const next = await watermark(pool);
        const since = this.#since;
        const events = await network.ask(async () => {
          server.assertUp();
          return [...server.clicks.values()].filter(({ ts }) => ts >= since).map(({ event }) => event);
        });
        for (const event of events) this.seen.add(event);
        this.#since = next ?? 0;
      } catch {
        // It tries again.
      }
      await delay(EVERY_MS);
    }
  }
}
