import type pg from 'pg';
import { sqlError } from '../postgres/locks.ts';
import type { Connection, PostgresServer } from './server.ts';

export type Result = { rows: unknown[]; rowCount: number | null };

const realTimeout = setTimeout;
const realClear = clearTimeout;

/** Time after which a statement may be one that waits for a lock. Real milliseconds. */
const LOOK_AFTER_MS = 3;
/** Time after which a statement that waits is in no deadlock: more than `deadlock_timeout`. Real milliseconds. */
const NO_DEADLOCK_AFTER_MS = 12;
/** What reads no clock needs none. */
const READS_CLOCK = /now\(\)|clock_timestamp\(\)|^\s*(insert|with|update|delete)\b/i;

const NO_ROWS: Result = { rows: [], rowCount: 0 };

/** A connection of a simulated process to the real PostgreSQL, and its transaction. */
export class ServerSession {
  readonly #server: PostgresServer;
  readonly #connection: Connection;
  #hasEnded = false;
  /** Whether `BEGIN` has begun a transaction. */
  #isOpen = false;
  /** Settles with the statement under way; null: there is none. */
  #running: Promise<void> | null = null;
  /** Hands out the response of a statement that waits for a lock; null: none waits. */
  #handOut: (() => void) | null = null;
  #handedOut: Promise<void> = Promise.resolve();

  constructor(server: PostgresServer, connection: Connection) {
    this.#server = server;
    this.#connection = connection;
  }

  /** Runs one statement. @throws an error with PostgreSQL's code */
  query(sql: string, parameters: readonly unknown[], name?: string): Promise<Result> {
    if (this.#hasEnded) return Promise.reject(sqlError('57P01', 'terminating connection'));
    const answer = this.#send(sql, parameters, name);
    const running: Promise<void> = answer.then(
      () => this.#settled(running),
      () => this.#settled(running),
    );
    this.#running = running;
    this.#server.world.hold(this.#untilStill());
    // The connection may have ended meanwhile: then no one gets an answer.
    return answer
      .finally(() => this.#handedOut)
      .then((result) => {
        if (this.#hasEnded) throw sqlError('57P01', 'terminating connection');
        return result;
      });
  }

  /**
   * The response of a statement that waits for a lock is handed out after that of the one that releases the lock. The
   * two sockets have no order.
   */
  #holdResponse(): void {
    this.#handedOut = new Promise((resolve) => {
      this.#handOut = resolve;
    });
    this.#server.waiting.add(this);
  }

  #releaseResponse(): void {
    this.#server.waiting.delete(this);
    this.#handOut?.();
    this.#handOut = null;
  }

  /** Ends the connection: the transaction is rolled back. */
  end(): void {
    if (!this.#hasEnded) this.#server.world.hold(this.close());
  }

  async close(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    while (this.#running) {
      await this.#server.cancel(this.#connection);
      await within(this.#running, LOOK_AFTER_MS);
    }
    this.#releaseResponse();
    if (this.#isOpen) await this.#connection.client.query('ROLLBACK');
    this.#server.disconnect(this, this.#connection);
    await this.#untilOthersAreStill();
  }

  #settled(running: Promise<void>): void {
    if (this.#running === running) this.#running = null;
  }

  async #send(sql: string, parameters: readonly unknown[], name?: string): Promise<Result> {
    const { client } = this.#connection;
    const now = `SET LOCAL sim.now = '${this.#server.wall().toFixed(3)}'`;
    const [word = ''] = sql.trimStart().split(/[\s;]/, 1);
    switch (word.toUpperCase()) {
      case 'BEGIN':
        await client.query(`BEGIN; ${now}`);
        this.#isOpen = true;
        return NO_ROWS;
      case 'COMMIT':
      case 'ROLLBACK':
        await client.query(word);
        this.#isOpen = false;
        return NO_ROWS;
    }
    if (this.#isOpen || !READS_CLOCK.test(sql)) return run(client, sql, parameters, name);
    if (parameters.length === 0) {
      // Without parameters several statements are one transaction.
      const results = (await client.query(`${now}; ${sql}`)) as unknown as Result[];
      return results.at(-1) ?? NO_ROWS;
    }
    // One way to the server and back for both: the client is in pipeline mode.
    const { stream } = client.connection;
    stream.cork();
    const told = client.query(now.replace('LOCAL ', ''));
    const answer = run(client, sql, parameters, name);
    stream.uncork();
    const [, result] = await Promise.all([told, answer]);
    return result;
  }

  /** Waits until the statement has ended or waits for a lock, and so have those that it let go on. */
  async #untilStill(): Promise<void> {
    const began = process.hrtime.bigint();
    for (let running = this.#running; running !== null; running = this.#running) {
      await within(running, LOOK_AFTER_MS);
      if (!this.#running) break;
      const isSettled = Number(process.hrtime.bigint() - began) / 1e6 > NO_DEADLOCK_AFTER_MS;
      if (!(await this.#server.isBlocked(this.#connection)) || !isSettled) continue;
      this.#holdResponse();
      return;
    }
    await this.#untilOthersAreStill();
  }

  async #untilOthersAreStill(): Promise<void> {
    for (const other of [...this.#server.waiting]) await other.#untilBlockedOrOver();
  }

  async #untilBlockedOrOver(): Promise<void> {
    for (let running = this.#running; running !== null; running = this.#running) {
      if (await this.#server.isBlocked(this.#connection)) return;
      await within(running, LOOK_AFTER_MS);
    }
    this.#releaseResponse();
  }
}

/** Names of statements, so that each connection parses a statement once. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `sim_${names.size}`;
  names.set(text, name);
  return name;
}

async function run(
  client: pg.Client,
  text: string,
  parameters: readonly unknown[],
  name: string | undefined,
): Promise<Result> {
  const values = parameters as unknown[];
  return client.query(values.length === 0 ? text : { text, values, name: name ?? nameOf(text) });
}

/** Waits for a promise, for some real milliseconds at most. */
async function within(promise: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = realTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  realClear(timer);
}
