import type { Commit, Database } from '../postgres/database.ts';
import type { Row } from '../postgres/expressions.ts';
import type { Process, World } from '../world/world.ts';
import type { LaneLedger } from './ledger.ts';

/** The value of `workers/lane/leases.ts`. Milliseconds. */
const LEASE_MS = 3_000;

/** Watches what is committed, and what is sent to ClickHouse: who writes for a lane, and where the watermark is. */
export class LaneRows {
  /** Whether PostgreSQL has gone back to an older state, and no watermark was read since. */
  #hasGoneBack = false;
  readonly #world: World;
  readonly #database: Database;
  readonly #ledger: LaneLedger;
  /** The process that took the lane, by the lane's row. An older row that is put back has its own. */
  readonly #owners = new WeakMap<Row, Process>();
  /** When a process last extended its lease of a lane. Milliseconds of the monotonic clock. */
  readonly #renewed = new WeakMap<Process, Map<string, number>>();

  constructor(world: World, database: Database, ledger: LaneLedger) {
    this.#world = world;
    this.#database = database;
    this.#ledger = ledger;
    database.onCommit = (commit) => this.#committed(commit);
  }

  /**
   * Records that the running process sends an insert.
   *
   * @param token begins with the partition
   */
  sends(token: string): void {
    const { current } = this.#world;
    this.#world.mark(token);
    for (const row of this.#database.rows('log_lanes').values()) {
      const partition = String(row.partition);
      const owner = this.#owners.get(row);
      if (!token.startsWith(`${partition}/`) || owner === current) continue;
      const renewed = this.#renewed.get(current)?.get(partition) ?? Number.NEGATIVE_INFINITY;
      const ms = this.#world.sinceBoot() - renewed;
      if (ms <= LEASE_MS) continue;
      this.#ledger.fenced(
        `${current.name} inserts for ${partition} ${Math.round(ms)} ms after it renewed its lease, which ${owner?.name} has`,
      );
    }
  }

  #committed({ changes, client }: Commit): void {
    let isOwner = false;
    for (const { table, key, before, after } of changes) {
      this.#world.mark(`${table} ${key} ${after?.next_offset ?? after?.high_water ?? ''}`);
      if (table !== 'log_lanes' || !after) continue;
      const isTaken = before?.epoch !== after.epoch;
      const owner = isTaken ? client : (before && this.#owners.get(before)) || client;
      this.#owners.set(after, owner);
      if (owner === client) isOwner = true;
      else this.#ledger.fenced(`${client.name} writes the row of a lane that ${owner.name} has taken`);
      if (before?.held_until !== after.held_until && after.held_until !== null) {
        const renewed = this.#renewed.get(client) ?? new Map<string, number>();
        this.#renewed.set(client, renewed.set(String(after.partition), this.#world.sinceBoot()));
      }
    }
    for (const { table, before, after } of changes) {
      if (table === 'dead_letters' && after) this.#ledger.lettered(this.#eventOf(after));
      if (table === 'ingest_streams' && before && !isOwner) {
        this.#ledger.fenced(`${client.name} advances a stream without a lane`);
      }
    }
    if (changes.some(({ table }) => table === 'ingest_streams')) this.#look();
  }

  /** Notes that PostgreSQL has gone back to an older state, and the watermark with it. */
  wentBack(): void {
    this.#hasGoneBack = true;
    this.#look();
    this.#hasGoneBack = false;
  }

  /** Reads the watermark. */
  #look(): void {
    let least = Number.POSITIVE_INFINITY;
    for (const { state, visible_before: visibleBefore } of this.#database.rows('ingest_streams').values()) {
      if (state === 'active') least = Math.min(least, Number(visibleBefore));
    }
    if (least < Number.POSITIVE_INFINITY) this.#ledger.watermark(least, this.#hasGoneBack);
  }

  #eventOf({ stream_id: streamId, sequence }: Row): string | null {
    const stream = this.#database.rows('ingest_streams').get(String(streamId));
    return stream && sequence !== null ? `${stream.ordinal}/${sequence}` : null;
  }
}
