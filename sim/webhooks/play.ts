import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { queueEvents } from '../../sql/webhooks/outbox.ts';
import { insertWebhook, updateWebhook, type WebhookSettings } from '../../sql/webhooks/webhooks.ts';
import { type Counts, type Outcome, Violation } from '../history.ts';
import { createReader, Log } from '../lane/log.ts';
import { Shipper } from '../lane/shipper.ts';
import { Writer } from '../lane/writer.ts';
import { type Player as HistoryPlayer, playHistory } from '../play-history.ts';
import { createPool } from '../postgres/pool.ts';
import { type PostgresServer, startPostgresServer } from '../postgres-server/server.ts';
import { Network, NO_NETWORK_FAULTS } from '../world/network.ts';
import { Killed, type Process, type World } from '../world/world.ts';
import { type DeliveryRow, type HookRow, WebhookLedger } from './ledger.ts';
import { ACCEPTS, NO_RECEIVER_FAULTS, Receivers } from './receivers.ts';
import { sendTo } from './send.ts';
import { DAY, type Step, type WebhookHistory, type WebhookOptions } from './steps.ts';
import { words } from './words.ts';
import { DeliveryWorker, type Place } from './worker.ts';

/** The workspace of test clicks. */
const WORKSPACE = '01010101-0101-0101-0101-010101010101';
const BROWSER =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
const EVENT = 'credit.earned';
const JOURNAL = 'ingest-0';
/** Time until a supervisor starts a process again. Milliseconds. */
const RESTARTS_WITHIN_MS = 1_500;
/** More than the longest wait of a delivery: what a receiver asked for, up to five days. */
const LONGEST_WAIT_MS = 6 * DAY;
/**
 * Bound of the end, when no fault is left: jobs wait for a minute after the clock has jumped, and a claim ends after
 * 90 s.
 */
const RECOVERS_WITHIN_MS = 240_000;

const PLAIN = { description: null, filter: null, format: 'json' } as const;
/** The webhook that gets clicks in batches. */
const BATCHING = 1;

/** Plays a history of webhooks. */
export async function play(history: WebhookHistory, log?: (line: string) => void): Promise<Outcome> {
  const server = await startPostgresServer();
  const create = (world: World) => new Player(world, server, history.options);
  return playHistory(history, { salt: 0x0e_b4_00, words, create }, log);
}

type Worker = { place: Place; life: DeliveryWorker; clockOffset: number };
type Hook = Pick<WebhookSettings, 'url' | 'events' | 'batch'> & { id: string };

class Player implements HistoryPlayer<Step> {
  readonly #world: World;
  readonly #server: PostgresServer;
  readonly #options: WebhookOptions;
  readonly #ledger: WebhookLedger;
  readonly #receivers: Receivers;
  readonly #workers: Worker[] = [];
  readonly #hooks: Hook[] = [];
  readonly #log: Log;
  #network: Network | null = null;
  #shop: { process: Process; pool: Pool } | null = null;
  #writer: Writer | null = null;
  #starts = 0;
  #kills = 0;

  constructor(world: World, server: PostgresServer, options: WebhookOptions) {
    this.#world = world;
    this.#server = server;
    this.#options = options;
    // Readers truncate a journal, and PostgreSQL goes back to before.
    this.#log = new Log([JOURNAL], !options.failovers);
    const { failovers, kills, pauses, clockFaults, postgresFaults, networkFaults, receiverFaults } = options;
    this.#ledger = new WebhookLedger({
      isDisturbed:
        failovers || kills || pauses || clockFaults || postgresFaults || networkFaults || receiverFaults,
      losesRequests: receiverFaults,
    });
    this.#receivers = new Receivers(world, options.hooks);
    this.#receivers.onArrival = (arrival) => {
      world.note(
        `receiver ${arrival.hook} gets ${arrival.id.slice(-6)}, and responds with ${arrival.status}`,
      );
      this.#ledger.arrived(arrival);
    };
  }

  async begin(): Promise<void> {
    const world = this.#world;
    const server = this.#server;
    await server.enter(world);
    sendTo(this.#receivers);
    this.#network = new Network(world, server.process);
    const process = world.start('shop');
    const pool = createPool(server, new Network(world, server.process));
    this.#shop = { process, pool };
    await world.call(process, () => this.#createShop(pool));
    const { hooks, workers, oneHost } = this.#options;
    this.#ledger.hooksOn = new Set(Array.from({ length: hooks }, (_, hook) => hook));
    const log = new Network(world, world.start('log'));
    for (let index = 0; index < workers; index++) {
      const place: Place = {
        host: oneHost ? 'host' : `host-${index}`,
        pool: createPool(server, this.#network),
        reader: createReader(world, this.#log, log),
      };
      this.#workers.push({ place, life: this.#start(index, place, 0), clockOffset: 0 });
    }
    // The lanes and the caches of webhooks are ready.
    await world.run(1_500);
  }

  async #createShop(pool: Pool): Promise<void> {
    await pool.query(
      `INSERT INTO workspaces (id, name, slug, plan) VALUES ($1, 'Shop', 'shop', 'unlimited')`,
      [WORKSPACE],
    );
    const events = this.#options.clicks ? [EVENT, 'click.created'] : [EVENT];
    for (let hook = 0; hook < this.#options.hooks; hook++) {
      const url = Receivers.url(hook);
      const batch = this.#options.clicks && hook === BATCHING ? { max: 3, seconds: 2 } : null;
      const settings = { url, events, ...PLAIN, batch, is_active: true, secret: Buffer.alloc(24, hook) };
      const { id } = await inTransaction(pool, (tx) => insertWebhook(tx, WORKSPACE, settings));
      this.#hooks.push({ id, url, events, batch });
    }
    const stream = await registerStream(pool, JOURNAL, '01900000-0000-7000-8000-000000000001');
    const process = this.#world.start('writer');
    const home = () => this.#log.partition(JOURNAL);
    this.#writer = new Writer(this.#world, {
      process,
      stream,
      shipper: new Shipper(this.#world, { process, streamId: stream.streamId, pool, home }),
      ledger: this.#ledger,
      skewMs: 0,
      heartbeatMs: 1_000,
      userAgent: BROWSER,
    });
  }

  #start(index: number, place: Place, clockOffset: number): DeliveryWorker {
    this.#starts += 1;
    const life = new DeliveryWorker(this.#world, `worker-${index}`, place, {
      pid: this.#starts + 1,
      clockOffset,
    });
    life.process.onEnd.push(() => {
      const { random, outside } = this.#world;
      this.#world.schedule(random.between(50, RESTARTS_WITHIN_MS), () => this.#restart(index), outside);
    });
    return life;
  }

  #restart(index: number): void {
    const worker = this.#workers[index];
    if (worker) worker.life = this.#start(index, worker.place, worker.clockOffset);
  }

  async step(step: Step): Promise<void> {
    await this.#do(step);
    await this.#look();
  }

  counts(): Counts {
    const { events, clicks } = this.#ledger;
    return { events, clicks, requests: this.#receivers.arrivals.length, kills: this.#kills };
  }

  async #do(step: Step): Promise<void> {
    const world = this.#world;
    switch (step.do) {
      case 'event':
        await this.#commitEvents(step.events);
        return;
      case 'click':
        world.as(world.outside, () => this.#writer?.click(step.clicks));
        return;
      case 'wait':
        await world.run(step.ms);
        return;
      case 'sleep':
        this.#ledger.slept(world.monotonic());
        world.sleep(step.ms);
        return;
      case 'stand still':
        this.#standStill(step.ms);
        return;
      case 'receiver':
        this.#receivers.behaviors[step.hook] = { ...step.behavior };
        return;
      case 'break receivers':
        this.#receivers.faults = { ...step.faults };
        return;
      case 'switch hook':
        await this.#switch(step.hook, step.on);
        return;
      case 'kill worker': {
        const { process } = this.#life(step.worker);
        if (!process.isAlive) return;
        this.#kills += 1;
        if (step.afterCalls === null) world.end(process);
        else process.operationsLeft = step.afterCalls;
        return;
      }
      case 'stop worker':
        await this.#stop(step.worker);
        return;
      case 'pause worker':
        if (step.afterCalls === null) world.pause(this.#life(step.worker).process, step.ms);
        else this.#life(step.worker).process.pauseAfter = { operations: step.afterCalls, ms: step.ms };
        return;
      case 'set clock': {
        const worker = this.#workers[step.worker];
        if (!worker) return;
        worker.clockOffset = step.ms;
        worker.life.process.clockOffset = step.ms;
        return;
      }
      case 'stop PostgreSQL':
        this.#server.stop();
        return;
      case 'start PostgreSQL':
        this.#server.start();
        return;
      case 'keep standby':
        await this.#server.keepStandby();
        this.#ledger.keep();
        return;
      case 'fail over':
        this.#server.stop();
        await world.run(step.downMs);
        await this.#server.goBack();
        this.#ledger.wentBack();
        this.#server.start();
        return;
      case 'break network':
        if (this.#network) this.#network.faults = { ...step.faults };
        return;
      case 'mend network':
        if (this.#network) this.#network.faults = { ...NO_NETWORK_FAULTS };
        return;
    }
  }

  #standStill(ms: number): void {
    const world = this.#world;
    this.#ledger.slept(world.monotonic());
    world.spend(ms);
    this.#ledger.slept(world.monotonic());
  }

  /** Commits events one after the other. While PostgreSQL is down the shop has none. */
  async #commitEvents(count: number): Promise<void> {
    for (let nth = 0; nth < count && !this.#server.isDown; nth++) {
      const number = this.#ledger.events++;
      await this.#asShop((pool) =>
        inTransaction(pool, (tx) => queueEvents(tx, WORKSPACE, [{ type: EVENT, data: { id: number } }])),
      );
      this.#ledger.committed(number);
    }
  }

  /** What it was to get until now may come or not. */
  async #switch(index: number, isOn: boolean): Promise<void> {
    const hook = this.#hooks[index];
    if (!hook || this.#server.isDown) return;
    const now = () => this.#world.trueTime();
    if (!isOn) this.#ledger.switched(index, false, now());
    const settings = { url: hook.url, events: hook.events, ...PLAIN, batch: hook.batch, is_active: isOn };
    await this.#asShop((pool) =>
      inTransaction(pool, (tx) => updateWebhook(tx, WORKSPACE, hook.id, settings)),
    );
    this.#ledger.switched(index, isOn, now());
  }

  #asShop<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    if (!this.#shop) throw new Error('there is no shop');
    const { process, pool } = this.#shop;
    return this.#world.call(process, () => work(pool));
  }

  #life(index: number): DeliveryWorker {
    const worker = this.#workers[index];
    if (!worker) throw new RangeError(`no worker ${index}`);
    return worker.life;
  }

  async #stop(index: number): Promise<void> {
    const life = this.#life(index);
    if (!life.process.isAlive) return;
    try {
      await life.stop();
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }

  /** Compares what PostgreSQL has with what came. @returns the deliveries that wait */
  async #look(): Promise<number> {
    const rows = await this.#server.look<DeliveryRow>(
      `SELECT url, event_id, status, attempts FROM webhook_deliveries AS delivery
         JOIN webhooks AS webhook ON webhook.id = webhook_id ORDER BY delivery.id`,
    );
    const hooks = await this.#server.look<HookRow>(
      'SELECT url, is_active, disabled_at FROM webhooks ORDER BY url',
    );
    this.#ledger.look(rows, hooks, this.#world.trueTime());
    if (this.#ledger.violation) throw this.#ledger.violation;
    const on = new Set(hooks.filter((hook) => hook.is_active).map(({ url }) => url));
    return rows.filter((row) => row.status === 'pending' && on.has(row.url)).length;
  }

  /** Every fault ends, and the longest wait passes: what was promised has to come, and what happens now too. */
  async end(): Promise<void> {
    const world = this.#world;
    this.#server.start();
    if (this.#network) this.#network.faults = { ...NO_NETWORK_FAULTS };
    this.#receivers.faults = { ...NO_RECEIVER_FAULTS };
    for (const hook of this.#receivers.behaviors.keys()) this.#receivers.behaviors[hook] = { ...ACCEPTS };
    for (const worker of this.#workers) {
      worker.clockOffset = 0;
      Object.assign(worker.life.process, { clockOffset: 0, operationsLeft: null, pauseAfter: null });
    }
    await world.run(2_000);
    this.#standStill(LONGEST_WAIT_MS);
    await this.#commitEvents(1);
    if (this.#options.clicks) world.as(world.outside, () => this.#writer?.click(1));
    let waiting = 1;
    for (let waited = 0; waited < RECOVERS_WITHIN_MS; waited += 5_000) {
      await world.run(5_000);
      waiting = await this.#look();
      if (waiting === 0 && this.#ledger.missing() === null) break;
    }
    const missing = this.#ledger.missing();
    if (waiting > 0 || missing !== null)
      throw new Violation(
        'every delivery comes once the faults end',
        `${missing ?? `${waiting} deliveries`} missing after ${RECOVERS_WITHIN_MS / 1_000} s`,
      );
    // What comes twice may come last.
    await world.run(3_000);
    await this.#look();
    this.#ledger.checkGone();
  }
}
