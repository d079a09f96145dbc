import type { Process, World } from '../world/world.ts';
import type { Row } from './expressions.ts';
import { Locks, sqlError } from './locks.ts';
import { Session } from './session.ts';
import { definitionOf, keyOf, TABLES } from './tables.ts';

/** A row before and after a transaction; null: there was none, or is none. */
export type Change = { table: string; key: string; before: Row | null; after: Row | null };

/** A transaction that was committed. */
export type Commit = {
  changes: readonly Change[];
  /** Its commit did not wait for the disk: a crash may forget it. */
  isRelaxed: boolean;
  /** The process whose connection it was. */
  client: Process;
};

/** Commits that are kept to go back to. */
const MOST_COMMITS = 200;

/**
 * PostgreSQL in memory, as much as lanes use: the statements of `sql/event-log` run as they are (`parse.ts`), at READ
 * COMMITTED. A row that is written stays locked until its transaction ends, who wants it waits, and looks at it again.
 */
export class Database {
  static readonly DOWN = 'PostgreSQL is down';
  readonly process: Process;
  readonly locks: Locks;
  /** Called with each commit. */
  onCommit: (commit: Commit) => void = () => undefined;
  readonly #world: World;
  readonly #tables = new Map<string, Map<string, Row>>();
  readonly #sessions = new Set<Session>();
  #commits: Commit[] = [];
  #isDown = false;

  constructor(world: World) {
    this.#world = world;
    this.process = world.start('PostgreSQL');
    this.locks = new Locks(world);
    for (const [name, { rows = [] }] of Object.entries(TABLES)) {
      this.#tables.set(name, new Map(rows.map((row) => [keyOf(name, row), row])));
    }
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** The server's wall clock. Milliseconds since the Unix epoch. */
  wall(): number {
    return this.#world.trueTime() + this.process.clockOffset;
  }

  rows(table: string): ReadonlyMap<string, Row> {
    const rows = this.#tables.get(table);
    if (!rows) throw new Error(`the simulator has no table ${table}`);
    return rows;
  }

  /** Opens a connection of a process. @throws while the server is down */
  connect(client: Process): Session {
    this.assertUp();
    const session = new Session(this, client);
    this.#sessions.add(session);
    return session;
  }

  disconnect(session: Session): void {
    this.#sessions.delete(session);
  }

  assertUp(): void {
    if (this.#isDown) throw sqlError('57P03', Database.DOWN);
  }

  commit(commit: Commit): void {
    for (const { table, key, after } of commit.changes) this.#set(table, key, after);
    this.#commits.push(commit);
    this.onCommit(commit);
    if (this.#commits.length > MOST_COMMITS) this.#commits = this.#commits.slice(-MOST_COMMITS / 2);
  }

  /** Stops at once: what was not committed is gone, and so are its locks. */
  stop(): void {
    this.#isDown = true;
    for (const session of [...this.#sessions]) session.end();
  }

  start(): void {
    this.#isDown = false;
  }

  /**
   * Crashes and recovers: unlogged tables are empty, and the latest commits that did not wait for the disk may be gone.
   */
  crash(): void {
    this.stop();
    const synced = this.#commits.findLastIndex(({ isRelaxed }) => !isRelaxed) + 1;
    this.#goBack(this.#world.random.integer(0, this.#commits.length - synced));
    this.start();
  }

  /** An older state takes over, as of an asynchronous standby: the last commits are lost. @returns how many */
  failOver(most: number): number {
    this.stop();
    const lost = this.#world.random.integer(0, Math.min(most, this.#commits.length));
    this.#goBack(lost);
    this.start();
    return lost;
  }

  /** No fault goes back behind this moment. */
  forgetHistory(): void {
    this.#commits = [];
  }

  #goBack(commits: number): void {
    const lost = commits === 0 ? [] : this.#commits.splice(-commits);
    for (const { changes } of lost.reverse()) {
      for (const { table, key, before } of changes.toReversed()) this.#set(table, key, before);
    }
    for (const [name, rows] of this.#tables) if (definitionOf(name).isUnlogged) rows.clear();
  }

  #set(table: string, key: string, row: Row | null): void {
    const rows = this.#tables.get(table);
    if (row === null) rows?.delete(key);
    else rows?.set(key, row);
  }
}
