import { Registry } from 'prom-client';
import { createApi } from '../../api/app.ts';
import type { Api, ApiDeps } from '../../api/dependencies.ts';
import { readConfig } from '../../core/settings/config.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { collectingLogger } from '../world/log.ts';
import type { Process, World } from '../world/world.ts';

/** Time until a supervisor starts the API again. Milliseconds. */
const RESTARTS_WITHIN_MS = 1_000;
const LONGEST_WAY_MS = 15;
/** Time until a client learns that a call is lost. Milliseconds. */
const NOTICED_WITHIN_MS = 300;

export type ApiRequest = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  payload?: object;
};
export type ApiResponse = { statusCode: number; body: string; headers: Readonly<Record<string, unknown>> };

/** A call without an answer: whether it took place is not known. */
export class CallLost extends Error {}

/** The API's process, which starts again when it ends. Calls reach it through a network that loses some. */
export class ApiServer {
  /** Of calls: probabilities. */
  lost = { requests: 0, answers: 0 };
  starts = 0;
  process: Process;
  readonly #world: World;
  readonly #pool: Pool;
  #app: Api | null = null;

  constructor(world: World, pool: Pool) {
    this.#world = world;
    this.#pool = pool;
    this.process = this.#start();
  }

  #start(): Process {
    const world = this.#world;
    this.starts += 1;
    this.#app = null;
    const process = world.start('api', { pid: this.starts + 1 });
    this.process = process;
    process.onEnd.push(() => {
      world.schedule(world.random.between(20, RESTARTS_WITHIN_MS), () => this.#start(), world.outside);
    });
    const begin = () => {
      const app = createApi({
        config: readConfig({ SHORT_URL: 'https://hop.example' }),
        pool: this.#pool,
        // Neither clicks nor tracked events are in these histories.
        clickhouse: null as unknown as ApiDeps['clickhouse'],
        eventLog: null as unknown as ApiDeps['eventLog'],
        log: collectingLogger(world),
        registry: new Registry(),
      });
      world.hold(app);
      void app.then(async (created) => {
        await created.ready();
        if (process.isAlive) this.#app = created;
      });
    };
    world.schedule(1, begin, process);
    return process;
  }

  /** @throws {CallLost} when no answer comes */
  request(given: ApiRequest): Promise<ApiResponse> {
    const world = this.#world;
    const { random, current: sender } = world;
    const { process } = this;
    const app = this.#app;
    const isLost = random.chance(this.lost.requests);
    const isUnheard = random.chance(this.lost.answers);
    return new Promise((resolve, reject) => {
      const lose = () =>
        world.schedule(random.between(1, NOTICED_WITHIN_MS), () => reject(new CallLost()), sender);
      if (!app || !process.isAlive || isLost) {
        lose();
        return;
      }
      process.onEnd.push(lose);
      const arrive = () => {
        void app.inject(given).then((response) => {
          // What a process says of its own end no one hears.
          if (!process.isAlive) return;
          process.onEnd.splice(process.onEnd.indexOf(lose), 1);
          if (isUnheard) lose();
          else world.schedule(random.between(0.1, LONGEST_WAY_MS), () => resolve(response), sender);
        });
      };
      world.schedule(random.between(0.1, LONGEST_WAY_MS), arrive, process);
    });
  }
}
