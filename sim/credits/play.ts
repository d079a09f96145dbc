import { verifyLedger } from '../../cli/verify-ledger.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { contradictions } from '../../test/referrals/contradictions.ts';
import { type Counts, type Outcome, Violation } from '../history.ts';
import { type Player as HistoryPlayer, playHistory } from '../play-history.ts';
import { createPool } from '../postgres/pool.ts';
import { type PostgresServer, startPostgresServer } from '../postgres-server/server.ts';
import { ACCEPTS, NO_RECEIVER_FAULTS, Receivers } from '../webhooks/receivers.ts';
import { sendTo } from '../webhooks/send.ts';
import { Network, NO_NETWORK_FAULTS } from '../world/network.ts';
import type { Process, World } from '../world/world.ts';
import { CODES, type CodeRow, CreditInvariants, DELIVERIES, type DeliveryRow } from './invariants.ts';
import { customerOf, openShop, type Shop, userOf } from './shop.ts';
import { type CreditHistory, type CreditOptions, HOUR, REFERRERS, type Step } from './steps.ts';
import { NO_STRIPE_FAULTS, StripeServer } from './stripe.ts';
import { callStripe } from './stripe-client.ts';
import { words } from './words.ts';
import { startCreditWorker } from './worker.ts';

/** Customers of Stripe: one of each referrer, and two to whom they may be tied later. */
const CUSTOMERS = 4;
/** Time until a supervisor starts a process again. Milliseconds. */
const RESTARTS_WITHIN_MS = 1_500;
/**
 * A worker that stands still in a transaction keeps its locks for longer than a claim. The API would respond with 503
 * meanwhile, and the shop would try again. Milliseconds.
 */
const SHOP_WITHIN_MS = 300_000;
/** More than the longest wait of a delivery. */
const LONGEST_WAIT_MS = 11 * HOUR;
/** Waits until a key is forgotten under which Stripe has saved an error, and some more attempts. */
const MOST_WAITS = 5;

/** Plays a history of credits and coupons. */
export async function play(history: CreditHistory, log?: (line: string) => void): Promise<Outcome> {
  const server = await startPostgresServer();
  const create = (world: World) => new Player(world, server, history.options);
  return playHistory(history, { salt: 0xc4_ed_17, words, create }, log);
}

type Worker = { process: Process; pool: Pool };

class Player implements HistoryPlayer<Step> {
  readonly #world: World;
  readonly #server: PostgresServer;
  readonly #options: CreditOptions;
  readonly #stripe: StripeServer;
  readonly #receivers: Receivers;
  readonly #invariants: CreditInvariants;
  readonly #workers: Worker[] = [];
  #network: Network | null = null;
  #shop: { process: Process; pool: Pool; shop: Shop } | null = null;
  #starts = 0;

  constructor(world: World, server: PostgresServer, options: CreditOptions) {
    this.#world = world;
    // Stripe's package takes some turns for a response.
    world.turns = 2;
    this.#server = server;
    this.#options = options;
    this.#stripe = new StripeServer(world);
    for (let number = 0; number < CUSTOMERS; number++)
      this.#stripe.addCustomer(customerOf(number), number < REFERRERS ? userOf(number) : '');
    this.#receivers = new Receivers(world, 1);
    this.#invariants = new CreditInvariants(this.#stripe);
    this.#receivers.onArrival = (arrival) => {
      world.note(`the receiver gets ${arrival.id.slice(-6)}, and responds with ${arrival.status}`);
      this.#invariants.arrived(arrival);
    };
  }

  async begin(): Promise<void> {
    const world = this.#world;
    const server = this.#server;
    await server.enter(world);
    sendTo(this.#receivers);
    callStripe(this.#stripe);
    this.#network = new Network(world, server.process);
    const process = world.start('shop');
    const pool = createPool(server, new Network(world, server.process));
    const shop = await world.call(process, () => openShop(pool, this.#options.provider));
    this.#shop = { process, pool, shop };
    for (let index = 0; index < this.#options.workers; index++) {
      const own = createPool(server, this.#network);
      this.#workers.push({ process: this.#start(index, own), pool: own });
    }
  }

  #start(index: number, pool: Pool): Process {
    this.#starts += 1;
    const process = startCreditWorker(this.#world, `worker-${index}`, { pid: this.#starts, pool });
    process.onEnd.push(() => {
      const again = () => {
        const worker = this.#workers[index];
        if (worker) worker.process = this.#start(index, worker.pool);
      };
      const { random, outside } = this.#world;
      this.#world.schedule(random.between(50, RESTARTS_WITHIN_MS), again, outside);
    });
    return process;
  }

  async step(step: Step): Promise<void> {
    await this.#do(step);
    const [deliveries, codes] = await this.#rows();
    this.#invariants.check(deliveries, codes);
  }

  counts(): Counts {
    const shop = this.#shop?.shop;
    return {
      credits: shop?.grants.length ?? 0,
      coupons: shop?.coupons.length ?? 0,
      calls: this.#stripe.calls + this.#receivers.arrivals.length,
      starts: this.#starts,
    };
  }

  async #do(step: Step): Promise<void> {
    const world = this.#world;
    switch (step.do) {
      case 'earn':
        return this.#asShop((shop) => shop.earn(step.referrer));
      case 'revoke':
        await this.#asShop((shop) => shop.revoke(step.nth));
        return;
      case 'mark delivered':
        await this.#asShop(async (shop) => {
          const id = shop.grants[step.nth % shop.grants.length];
          if ((await shop.markDelivered(step.nth)) && id !== undefined) this.#invariants.marked.add(id);
        });
        return;
      case 'retry delivery':
        await this.#asShop((shop) => shop.retryDelivery(step.nth));
        return;
      case 'replace fulfilment':
        return this.#asShop((shop) => shop.replaceFulfilment(step.provider));
      case 'create coupon':
        return this.#asShop((shop) => shop.createCoupon());
      case 'delete coupon':
        await this.#asShop((shop) => shop.deleteCoupon(step.nth));
        return;
      case 'retry coupon':
        return this.#asShop((shop) => shop.retryCoupon(step.nth));
      case 'tie customer':
        return this.#asShop((shop) => shop.tieCustomer(step.referrer, step.customer));
      case 'break Stripe':
        this.#stripe.faults = { ...step.faults };
        return;
      case 'mend Stripe':
        this.#stripe.faults = { ...NO_STRIPE_FAULTS };
        return;
      case 'receiver':
        this.#receivers.behaviors[0] = { status: step.status, afterMs: step.afterMs };
        return;
      case 'break receiver':
        this.#receivers.faults = { ...step.faults };
        return;
      case 'wait':
        return world.run(step.ms);
      case 'stand still':
        world.spend(step.ms);
        return;
      case 'kill worker': {
        const process = this.#workers[step.worker]?.process;
        if (!process) return;
        if (step.afterCalls === null) world.end(process);
        else process.operationsLeft = step.afterCalls;
        return;
      }
      case 'pause worker': {
        const process = this.#workers[step.worker]?.process;
        if (process) process.pauseAfter = { operations: step.afterCalls, ms: step.ms };
        return;
      }
      case 'break network':
        if (this.#network) this.#network.faults = { ...step.faults };
        return;
      case 'mend network':
        if (this.#network) this.#network.faults = { ...NO_NETWORK_FAULTS };
        return;
      case 'restart PostgreSQL':
        this.#server.stop();
        this.#server.start();
        return;
    }
  }

  #asShop<T>(work: (shop: Shop) => Promise<T>): Promise<T> {
    if (!this.#shop) throw new Error('there is no shop');
    const { process, shop } = this.#shop;
    return this.#world.call(process, () => work(shop), SHOP_WITHIN_MS);
  }

  async #rows(): Promise<[DeliveryRow[], CodeRow[]]> {
    return [await this.#server.look<DeliveryRow>(DELIVERIES), await this.#server.look<CodeRow>(CODES)];
  }

  /** Every fault ends: what was earned has to be delivered, and what was wanted made, each once. */
  async end(): Promise<void> {
    const world = this.#world;
    if (this.#network) this.#network.faults = { ...NO_NETWORK_FAULTS };
    this.#stripe.faults = { ...NO_STRIPE_FAULTS };
    this.#receivers.faults = { ...NO_RECEIVER_FAULTS };
    this.#receivers.behaviors[0] = { ...ACCEPTS };
    for (const { process } of this.#workers)
      Object.assign(process, { operationsLeft: null, pauseAfter: null });
    await world.run(2_000);
    let missing: Violation | null = null;
    for (let waits = 0; waits <= MOST_WAITS; waits++) {
      const [deliveries, codes] = await this.#rows();
      this.#invariants.check(deliveries, codes);
      missing = this.#invariants.missing(deliveries, codes);
      if (missing === null && waits > 0) break;
      world.spend(LONGEST_WAIT_MS);
      await world.run(2_500);
    }
    if (missing) throw missing;
    await this.#checkLedger();
  }

  async #checkLedger(): Promise<void> {
    const { pool, process, shop } = this.#shop ?? {};
    if (!pool || !process || !shop) return;
    await this.#world.call(process, async () => {
      const [found] = await contradictions(pool, shop.workspace.id);
      if (found) throw new Violation('each balance is the sum of its entries', JSON.stringify(found));
      const { wrong } = await verifyLedger(pool, [shop.workspace.id]);
      if (wrong.length > 0)
        throw new Violation('the ledger replays to its balances', JSON.stringify(wrong[0]));
    });
  }
}
