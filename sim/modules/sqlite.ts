import { type Process, type World, world } from '../world/world.ts';

const SQLITE_BUSY = 5;

/** Who holds which file of a world. The operating system drops a lock with its process. */
const holders = new WeakMap<World, Map<string, Process>>();

/** `node:sqlite` as `core/file-lock.ts` uses it: a lock of the operating system on a file. */
export class DatabaseSync {
  readonly #path: string;
  readonly #held: Map<string, Process>;
  #holds = false;

  constructor(path: string) {
    this.#path = path;
    this.#held = holders.get(world()) ?? new Map();
    holders.set(world(), this.#held);
  }

  exec(): void {
    const holder = this.#held.get(this.#path);
    if (holder?.isAlive) throw Object.assign(new Error('database is locked'), { errcode: SQLITE_BUSY });
    this.#held.set(this.#path, world().current);
    this.#holds = true;
  }

  close(): void {
    if (this.#holds) this.#held.delete(this.#path);
    this.#holds = false;
  }
}
