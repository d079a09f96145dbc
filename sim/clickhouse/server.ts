import { ClickHouseError } from '@clickhouse/client';
import type { Process, World } from '../world/world.ts';
import type { InsertedClick } from './read-clicks.ts';

/**
 * What ClickHouse does to inserts: probabilities of one. The numbers are those of the reports of its users, at
 * ClickHouse/ClickHouse unless said otherwise.
 */
export type ClickHouseFaults = {
  /** It refuses for now, and stores nothing. */
  refused: number;
  /** It stores, and answers with an error. */
  failsAfterStored: number;
  /**
   * #55109, #120904, #121174: the insert fails, its token stays, so a repeat is answered as a duplicate without rows.
   */
  keepsTokenOnly: number;
  /** #112149: the insert is cut off while it is committed. Its repeat is dropped. */
  cutOff: number;
  /**
   * #113084: it splits a block, each time into other parts, with a token for each, and may fail between two of them. A
   * repeat then loses some rows, and stores some twice.
   */
  splits: number;
  /** Longest time that an insert takes. Milliseconds. */
  insertMs: number;
};

export const NO_CLICKHOUSE_FAULTS: ClickHouseFaults = {
  refused: 0,
  failsAfterStored: 0,
  keepsTokenOnly: 0,
  cutOff: 0,
  splits: 0,
  insertMs: 20,
};

/** Codes of ClickHouse's errors (`src/Common/ErrorCodes.cpp`). */
const CODES = {
  TOO_MANY_PARTS: '252',
  MEMORY_LIMIT_EXCEEDED: '241',
  SOCKET_TIMEOUT: '209',
  UNKNOWN_STATUS_OF_INSERT: '319',
  INCORRECT_DATA: '117',
} as const;

function refusal(type: keyof typeof CODES): ClickHouseError {
  return new ClickHouseError({ code: CODES[type], type, message: type });
}

/**
 * Table `clicks` of ClickHouse in memory: a block is stored in full or not at all, and an insert whose token is among
 * the latest ones is answered without being stored (`non_replicated_deduplication_window`).
 */
export class ClickHouseServer {
  readonly process: Process;
  readonly clicks = new Map<string, InsertedClick>();
  faults: ClickHouseFaults = { ...NO_CLICKHOUSE_FAULTS };
  /** Tokens that are kept. #24 of the Kafka connector: the window ends before a repeat comes. */
  window: number;
  /** Called with rows that are stored now. */
  onStored: (clicks: readonly InsertedClick[]) => void = () => undefined;
  /** Whether it refuses a row for good. */
  isRefused: (click: InsertedClick) => boolean = () => false;
  isDown = false;
  readonly #world: World;
  readonly #tokens: string[] = [];

  constructor(world: World, window: number) {
    this.#world = world;
    this.window = window;
    this.process = world.start('ClickHouse');
  }

  /** Inserts a block. @throws {ClickHouseError}, or an error of the network */
  async insert(token: string, clicks: readonly InsertedClick[]): Promise<void> {
    const { random } = this.#world;
    const { refused, failsAfterStored, keepsTokenOnly, cutOff, splits, insertMs } = this.faults;
    this.assertUp();
    const isStoredWhenItEnds = random.chance(0.5);
    await this.#pass(random.between(0.5, insertMs));
    // It ended meanwhile: nobody knows whether the part was renamed before.
    if (this.isDown && !isStoredWhenItEnds) this.assertUp();
    if (clicks.some((click) => this.isRefused(click))) throw refusal('INCORRECT_DATA');
    if (random.chance(refused)) throw refusal('TOO_MANY_PARTS');
    if (random.chance(splits)) this.#storeSplit(token, clicks);
    else if (random.chance(keepsTokenOnly)) {
      this.#isNew(token);
      throw refusal('MEMORY_LIMIT_EXCEEDED');
    } else if (random.chance(cutOff)) {
      this.#isNew(token);
      throw refusal('UNKNOWN_STATUS_OF_INSERT');
    } else if (this.#isNew(token)) this.#store(clicks);
    if (random.chance(failsAfterStored)) throw refusal('SOCKET_TIMEOUT');
    this.assertUp();
  }

  assertUp(): void {
    if (this.isDown) throw Object.assign(new Error('ClickHouse is down'), { code: 'ECONNREFUSED' });
  }

  #storeSplit(token: string, clicks: readonly InsertedClick[]): void {
    const { random } = this.#world;
    const size = Math.max(1, Math.ceil(clicks.length / random.integer(1, 3)));
    for (let part = 0; part * size < clicks.length; part++) {
      if (part > 0 && random.chance(0.4)) throw refusal('MEMORY_LIMIT_EXCEEDED');
      const partToken = part === 0 ? token : `${token}_${part}`;
      if (this.#isNew(partToken)) this.#store(clicks.slice(part * size, (part + 1) * size));
    }
  }

  /** Keeps a token. @returns whether it was not kept before */
  #isNew(token: string): boolean {
    if (this.#tokens.includes(token)) return false;
    this.#tokens.push(token);
    if (this.#tokens.length > this.window) this.#tokens.shift();
    return true;
  }

  #store(clicks: readonly InsertedClick[]): void {
    this.onStored(clicks);
    for (const click of clicks) this.clicks.set(click.event, click);
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#world.schedule(ms, resolve, this.process));
  }
}
