import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { types } from '../../sql/database/pool.ts';
import { sqlError } from '../postgres/locks.ts';
import type { Process, World } from '../world/world.ts';
import { ServerSession } from './session.ts';

const SERVE = fileURLToPath(new URL('./serve.ts', import.meta.url));
/** A real connection, which sessions of simulated processes use one after the other. */
export type Connection = { client: pg.Client; pid: number };

/**
 * The real PostgreSQL in simulated time: it runs one statement after the other, and the clocks are stopped meanwhile.
 * Only what waits for a lock lets others continue.
 */
export class PostgresServer {
  static readonly DOWN = 'PostgreSQL is down';
  readonly #monitor: pg.Client;
  readonly #open: () => Promise<Connection>;
  readonly #idle: Connection[] = [];
  readonly #sessions = new Set<ServerSession>();
  /** Sessions whose statement waits for a lock. */
  readonly waiting = new Set<ServerSession>();
  #world: World | null = null;
  #process: Process | null = null;
  #isDown = false;

  /** @param open opens a connection */
  constructor(monitor: pg.Client, open: () => Promise<Connection>) {
    this.#monitor = monitor;
    this.#open = open;
  }

  /** Makes this the server of a new world, with an empty database. */
  async enter(world: World): Promise<void> {
    for (const session of [...this.#sessions]) await session.close();
    this.#isDown = false;
    await this.#monitor.query('SELECT emptied.empty_all()');
    this.#world = world;
    this.#process = world.start('PostgreSQL');
  }

  get world(): World {
    if (!this.#world) throw new Error('no simulated world');
    return this.#world;
  }

  get process(): Process {
    if (!this.#process) throw new Error('no simulated world');
    return this.#process;
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** The server's wall clock. Milliseconds since the Unix epoch. */
  wall(): number {
    return this.world.trueTime() + this.process.clockOffset;
  }

  /** Opens a connection of a process. @throws while the server is down */
  async connect(_client: Process): Promise<ServerSession> {
    if (this.#isDown) throw sqlError('57P03', PostgresServer.DOWN);
    let connection = this.#idle.pop();
    if (!connection) {
      const opening = this.#open();
      this.world.hold(opening);
      connection = await opening;
    }
    const session = new ServerSession(this, connection);
    this.#sessions.add(session);
    return session;
  }

  disconnect(session: ServerSession, connection: Connection): void {
    this.#sessions.delete(session);
    this.#idle.push(connection);
  }

  /** Stops at once: what was not committed is gone, and so are its locks. */
  stop(): void {
    this.#isDown = true;
    for (const session of [...this.#sessions]) session.end();
  }

  start(): void {
    this.#isDown = false;
  }

  /** A standby gets no commit from here on. */
  async keepStandby(): Promise<void> {
    await this.#monitor.query('SELECT emptied.keep()');
  }

  /** A stopped server becomes its standby: what was committed since {@link keepStandby} is gone. */
  async goBack(): Promise<void> {
    // Transactions of processes that were connected are rolled back by now.
    for (const session of [...this.#sessions]) await session.close();
    await this.#monitor.query('SELECT emptied.go_back()');
  }

  /** Runs a statement outside of the simulation, for what a check looks at. */
  async look<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#monitor.query<Row>(sql, values)).rows;
  }

  async isBlocked({ pid }: Connection): Promise<boolean> {
    const [row] = await this.look<{ blocked: boolean }>('SELECT pg_blocking_pids($1) <> $2 AS blocked', [
      pid,
      [],
    ]);
    return row?.blocked === true;
  }

  async cancel({ pid }: Connection): Promise<void> {
    await this.look('SELECT pg_cancel_backend($1)', [pid]);
  }
}

let started: Promise<PostgresServer> | null = null;

/** Starts the server of this run, once. Call it before the globals are replaced. */
export function startPostgresServer(): Promise<PostgresServer> {
  started ??= start();
  return started;
}

async function start(): Promise<PostgresServer> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', SERVE], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [url] = await Promise.race([
    once(createInterface(child.stdout), 'line') as Promise<[string]>,
    once(child, 'exit').then(([code]) => {
      throw new Error(`PostgreSQL for the simulation exited with ${code}`);
    }),
  ]);
  // The child ends with its input, when this process exits.
  const connect = async () => {
    const client = new pg.Client({ connectionString: url, types, pipeline: true });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  return new PostgresServer(await connect(), async () => {
    const client = await connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return { client, pid: rows[0]?.pid ?? 0 };
  });
}
