import { verifyLedger } from '../../cli/verify-ledger.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { contradictions } from '../../test/referrals/contradictions.ts';
import { type Call, createDriver, createPrograms, type Driver } from '../../test/referrals/driver.ts';
import { type Action, USERS } from '../../test/referrals/history.ts';
import { createModel, type Model } from '../../test/referrals/model/model.ts';
import { YEN_PER_100_USD } from '../../test/referrals/model/money.ts';
import { type Counts, type Outcome, Violation } from '../history.ts';
import { setTimeout as delay } from '../modules/timers-promises.ts';
import { type Player as HistoryPlayer, playHistory } from '../play-history.ts';
import { createPool } from '../postgres/pool.ts';
import { type PostgresServer, startPostgresServer } from '../postgres-server/server.ts';
import { Network, NO_NETWORK_FAULTS } from '../world/network.ts';
import type { Process, World } from '../world/world.ts';
import { ApiServer, CallLost } from './api.ts';
import type { LedgerHistory, Step } from './steps.ts';
import { words } from './words.ts';

const CURRENCY_WITHOUT_RATE = 'eur';
/** A client gives up after so many calls without an answer. */
const MOST_CALLS = 100;
const CALLS_AGAIN_MS = 150;
/** Virtual time within which a step is done: a client calls again until it is. Milliseconds. */
const STEP_WITHIN_MS = 600_000;

/** Plays a history of a referral program. */
export async function play(history: LedgerHistory, log?: (line: string) => void): Promise<Outcome> {
  const server = await startPostgresServer();
  const create = (world: World) => new Player(world, server, history);
  return playHistory(history, { salt: 0x1e_d6_e4, words, create }, log);
}

type Shop = { process: Process; driver: Driver; workspaceId: string };

class Player implements HistoryPlayer<Step> {
  readonly #world: World;
  readonly #server: PostgresServer;
  readonly #history: LedgerHistory;
  readonly #model: Model;
  readonly #network: Network;
  #api: ApiServer | null = null;
  #shop: Shop | null = null;
  #acts = 0;
  #calls = 0;
  #unanswered = 0;

  constructor(world: World, server: PostgresServer, history: LedgerHistory) {
    this.#world = world;
    world.turns = 10;
    this.#server = server;
    this.#history = history;
    this.#model = createModel(history.programs);
    // Its process is that of the world, which is known once the server has entered it.
    this.#network = new Network(world, world.start('way to PostgreSQL'));
  }

  async begin(): Promise<void> {
    const world = this.#world;
    await this.#server.enter(world);
    const process = world.start('client');
    const pool = createPool(this.#server, new Network(world, this.#server.process));
    await world.call(process, async () => {
      await pool.query(`INSERT INTO currency_rates (currency, base, rate) VALUES ('usd', 'jpy', $1)`, [
        Number(YEN_PER_100_USD) / 100,
      ]);
    });
    const api = new ApiServer(world, createPool(this.#server, this.#network));
    this.#api = api;
    this.#shop = await world.call(process, async () => {
      const { id: workspaceId } = await createWorkspace(pool, { name: 'Shop', plan: 'unlimited' });
      const tokenOf = async (kind: 'secret' | 'publishable') =>
        (await createKey(pool, { workspaceId, kind, label: kind })).token;
      const keys = { secret: await tokenOf('secret'), publishable: await tokenOf('publishable') };
      const call = this.#callOf(api, keys);
      const programIds = await createPrograms(call, this.#history.programs);
      const driver = createDriver({
        call,
        // Its histories erase no one.
        stores: { pool, clickhouse: null as never, replicas: null as never, log: null as never },
        workspaceId,
        programIds,
        foreign: CURRENCY_WITHOUT_RATE,
      });
      return { process, driver, workspaceId };
    });
  }

  /** Calls the API as a client does that repeats what has no answer, or an answer of trouble. */
  #callOf(api: ApiServer, keys: { secret: string; publishable: string }): Call {
    return async (method, path, body, { fromPage = false, idempotencyKey } = {}) => {
      const request = {
        method,
        url: `/api/v1${path}`,
        headers: {
          authorization: `Bearer ${fromPage ? keys.publishable : keys.secret}`,
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { payload: body as object }),
      };
      for (let calls = 0; calls < MOST_CALLS; calls++) {
        this.#calls += 1;
        try {
          const { statusCode: status, body: text, headers } = await api.request(request);
          const isJson = String(headers['content-type']).startsWith('application/json');
          const isBusy = status === 409 && text.includes('in progress');
          if (status >= 500 && !this.#mayFail)
            throw new Violation('no call fails', `${method} ${path}: ${text}`);
          if (status < 500 && status !== 429 && !isBusy) {
            const exportId = headers['x-export-id'];
            return {
              status,
              body: (isJson && text !== '' ? JSON.parse(text) : {}) as Record<string, unknown>,
              text,
              exportId: exportId === undefined ? null : String(exportId),
            };
          }
        } catch (error) {
          if (!(error instanceof CallLost)) throw error;
          this.#unanswered += 1;
        }
        await delay(CALLS_AGAIN_MS);
      }
      throw new Violation('every call is answered in the end', `${method} ${path}`);
    };
  }

  /** Whether the API may answer that it has trouble: its way to PostgreSQL does not work. */
  get #mayFail(): boolean {
    const { networkFaults, postgresFaults, failovers, pauses } = this.#history.options;
    return networkFaults || postgresFaults || failovers || pauses;
  }

  async step(step: Step): Promise<void> {
    const world = this.#world;
    switch (step.do) {
      case 'act':
        await this.#act(step.action);
        break;
      case 'together':
        await this.#together(step.actions);
        break;
      case 'kill API':
        if (this.#api) this.#api.process.operationsLeft = step.afterCalls;
        break;
      case 'pause API':
        if (this.#api) this.#api.process.pauseAfter = { operations: step.afterCalls, ms: step.ms };
        break;
      case 'lose calls':
        if (this.#api) this.#api.lost = { requests: step.requests, answers: step.answers };
        break;
      case 'break network':
        this.#network.faults = { ...step.faults };
        break;
      case 'mend network':
        this.#network.faults = { ...NO_NETWORK_FAULTS };
        break;
      case 'keep standby':
        await this.#server.keepStandby();
        break;
      case 'fail over':
        this.#server.stop();
        await world.run(step.downMs);
        await this.#server.goBack();
        this.#server.start();
        break;
      case 'restart PostgreSQL':
        world.schedule(
          step.afterMs,
          () => {
            this.#server.stop();
            this.#server.start();
          },
          world.outside,
        );
        break;
    }
  }

  counts(): Counts {
    return {
      actions: this.#acts,
      calls: this.#calls,
      unanswered: this.#unanswered,
      starts: this.#api?.starts ?? 0,
    };
  }

  #inShop<T>(work: (shop: Shop) => Promise<T>): Promise<T> {
    const shop = this.#shop;
    if (!shop) throw new Error('there is no shop');
    return this.#world.call(shop.process, () => work(shop), STEP_WITHIN_MS);
  }

  /** Runs an action, and compares the answers with the model's. */
  async #act(action: Action): Promise<void> {
    const number = this.#acts++;
    const grants = this.#history.options.together ? 3 : this.#model.grants();
    const before = this.#unanswered;
    const answers = await this.#inShop(({ driver }) =>
      this.#repeated(() => driver.act(action, { number, grants })),
    );
    this.#world.note(`answers ${action.type} with ${JSON.stringify(answers)}`);
    if (this.#history.options.together) return;
    const expected = this.#model.act(action);
    if (action.type === 'export' && this.#unanswered > before) return;
    if (answers.length === 1 && isEqual(answers[0], expected)) return;
    throw new Violation(
      'every answer is as the model says',
      `${words({ do: 'act', action })}: ${JSON.stringify(answers)} in place of ${JSON.stringify(expected)}`,
    );
  }

  async #together(actions: readonly Action[]): Promise<void> {
    await this.#inShop(({ driver }) =>
      Promise.all(
        actions.map((action) => {
          const number = this.#acts++;
          return this.#repeated(() => driver.act(action, { number, grants: 3 }));
        }),
      ),
    );
  }

  /** An operator's command, and what a test looks up, is repeated when PostgreSQL ends it. */
  async #repeated<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await work();
      } catch (error) {
        const isEnded = error instanceof Error && 'code' in error && String(error.code).startsWith('57P');
        if (!isEnded || tries === MOST_CALLS) throw error;
        this.#unanswered += 1;
        await delay(CALLS_AGAIN_MS);
      }
    }
  }

  /** Every fault ends: the ledger has to be whole, and each balance as the model says. */
  async end(): Promise<void> {
    const world = this.#world;
    this.#server.start();
    this.#network.faults = { ...NO_NETWORK_FAULTS };
    if (this.#api) {
      this.#api.lost = { requests: 0, answers: 0 };
      Object.assign(this.#api.process, { operationsLeft: null, pauseAfter: null });
    }
    // Transactions of processes that ended are rolled back by now.
    await world.run(5_000);
    const { workspaceId } = this.#shop ?? { workspaceId: '' };
    const pool = createPool(this.#server, new Network(world, this.#server.process));
    await this.#inShop(async ({ driver }) => {
      const found = await contradictions(pool, workspaceId);
      if (found.length > 0)
        throw new Violation('each balance is the sum of its entries', JSON.stringify(found[0]));
      const { wrong } = await verifyLedger(pool, [workspaceId]);
      if (wrong.length > 0)
        throw new Violation('the ledger replays to its balances', JSON.stringify(wrong[0]));
      if (this.#history.options.together) return;
      for (let user = 0; user < USERS; user++) {
        const [is, should] = [await driver.balance(user), this.#model.balance(user)];
        if (isEqual(is, should)) continue;
        throw new Violation(
          'each balance is as the model says',
          `user ${user} has ${JSON.stringify(is)} in place of ${JSON.stringify(should)}`,
        );
      }
    });
  }
}

/** Compares two answers: the order of their fields does not matter. */
function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)]),
  );
}
