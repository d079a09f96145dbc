import type { Process, World } from '../world/world.ts';

/** A row of `links`. */
export type LinkRow = { maxClicks: number | null; isDeleted: boolean };
/** A row of `link_leases`. */
export type LeaseRow = {
  linkId: string;
  streamId: string;
  granted: number;
  used: number;
  generation: number;
};
/** A row of `ingest_streams`. */
export type StreamRow = { isActive: boolean; highWater: bigint };

const keyOf = (linkId: string, streamId: string) => `${linkId} ${streamId}`;

/** Time between two statements of a transaction. Milliseconds. */
const STATEMENT_MS = 4;

/**
 * The tables of PostgreSQL with the leases, and its transactions at READ COMMITTED: a statement sees what was committed
 * before it. A written row stays locked until its transaction ends, and other writers wait.
 */
export class LeaseTable {
  static readonly DOWN = 'PostgreSQL is down';
  readonly links = new Map<string, LinkRow>();
  readonly leases = new Map<string, LeaseRow>();
  readonly streams = new Map<string, StreamRow>();
  readonly process: Process;
  readonly #world: World;
  readonly #locks = new Map<string, (() => void)[]>();
  #isDown = false;
  /** Number of stops: transactions of an earlier life are gone. */
  #life = 0;

  constructor(world: World) {
    this.#world = world;
    this.process = world.start('PostgreSQL');
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** Stops at once: what was not committed is gone, with its locks. */
  stop(): void {
    this.#isDown = true;
    this.#life += 1;
    const waiting = [...this.#locks.values()].flat();
    this.#locks.clear();
    for (const wake of waiting) wake();
  }

  start(): void {
    this.#isDown = false;
  }

  /** Runs a transaction, and commits it. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const open = await this.open(work);
    await open.commit();
    return open.result;
  }

  /** Runs the statements of a transaction, which stays open. It rolls back when `work` throws. */
  async open<T>(work: (transaction: Transaction) => Promise<T>): Promise<OpenTransaction<T>> {
    const life = this.#life;
    const held: string[] = [];
    const writes: (() => void)[] = [];
    let hasEnded = false;
    const assertOpen = () => {
      if (this.#isDown || life !== this.#life || hasEnded) throw new Error(LeaseTable.DOWN);
    };
    const rollback = () => {
      if (!hasEnded && life === this.#life) for (const key of held) this.#unlock(key);
      hasEnded = true;
    };
    const lock = async (key: string) => {
      if (held.includes(key)) return;
      await this.#lock(key);
      assertOpen();
      held.push(key);
    };
    const statement = async () => {
      await this.#pass(this.#world.random.between(0, STATEMENT_MS));
      assertOpen();
    };
    try {
      assertOpen();
      const result = await work({
        lockLink: (linkId) => lock(linkId),
        lockLease: (linkId, streamId) => lock(keyOf(linkId, streamId)),
        statement,
        write: (change) => writes.push(change),
      });
      const commit = async () => {
        await statement();
        for (const write of writes) write();
        rollback(); // releases the locks
      };
      return { result, commit, rollback };
    } catch (error) {
      rollback();
      throw error;
    }
  }

  leaseOf(linkId: string, streamId: string): LeaseRow | undefined {
    return this.leases.get(keyOf(linkId, streamId));
  }

  /** Replaces a lease. Must be called when its transaction commits. */
  setLease(lease: LeaseRow): void {
    this.leases.set(keyOf(lease.linkId, lease.streamId), lease);
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#world.schedule(ms, resolve, this.process));
  }

  async #lock(key: string): Promise<void> {
    const waiting = this.#locks.get(key);
    if (!waiting) {
      this.#locks.set(key, []);
      return;
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  #unlock(key: string): void {
    const next = this.#locks.get(key)?.shift();
    if (next) next();
    else this.#locks.delete(key);
  }
}

/** The statements of a transaction. */
export type Transaction = {
  /** Locks a link's row, as `FOR NO KEY UPDATE`. */
  lockLink(linkId: string): Promise<void>;
  /** Locks the row of a lease, or the place where it would be. */
  lockLease(linkId: string, streamId: string): Promise<void>;
  /** Lets the time of a statement pass. */
  statement(): Promise<void>;
  /** Adds a change that takes place when the transaction commits. */
  write(change: () => void): void;
};

/** A transaction that holds its locks until it ends. */
export type OpenTransaction<T> = { result: T; commit(): Promise<void>; rollback(): void };
