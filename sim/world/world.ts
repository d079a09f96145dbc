import { Disk } from './disk.ts';
import { Random } from './random.ts';

/** Taken before the globals are replaced: the only real timer of a simulation. */
const realImmediate = setImmediate;
/**
 * Runs all promises that are settled, and what they lead to, at once: what Node.js does between two turns of its event
 * loop. A turn for each task would take more time than most tasks.
 */
const runPromises = (process as unknown as { _tickCallback: () => void })._tickCallback;

/** Runs `work` in a turn of the real event loop, where no promise is running. @throws what it throws */
const inTurn = <T>(work: () => T) =>
  new Promise<T>((resolve, reject) => {
    realImmediate(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });

/** A callback that waits for its moment. Times are milliseconds of the machine's monotonic clock. */
export type Task = { at: number; order: number; process: Process; run: () => void; isCancelled: boolean };

/**
 * A process of the simulated machine. The code of a process runs in this one; what tells them apart is whose task is
 * running. When it ends, its tasks and its open files go with it.
 */
export class Process {
  readonly name: string;
  /** The monotonic clock when the process started. Milliseconds. */
  readonly startedAt: number;
  isAlive = true;
  /** The name of its host, and its number there. */
  readonly host: string;
  readonly pid: number;
  /** By how much the wall clock of its host is ahead of the machine's. Milliseconds. */
  clockOffset = 0;
  /**
   * It does nothing before this moment of the monotonic clock, as one that was stopped or whose host slept.
   * Milliseconds.
   */
  pausedUntil = 0;
  /** Calls until it stands still for some milliseconds, just after the last of them; null: it does not. */
  pauseAfter: { operations: number; ms: number } | null = null;
  /** Calls to the disk and the network until the process is killed in the middle of its code; null: it is not. */
  operationsLeft: number | null = null;
  readonly onEnd: (() => void)[] = [];

  constructor(name: string, startedAt: number, { host = 'localhost', pid = 1 } = {}) {
    this.name = name;
    this.startedAt = startedAt;
    this.host = host;
    this.pid = pid;
  }
}

/** Thrown by every call of a process that was killed in the middle of its code, so that it has no further effect. */
export class Killed extends Error {
  constructor(process: Process) {
    super(`${process.name} was killed`);
    this.name = 'Killed';
  }
}

/** Where a simulated wall clock begins: 2026-11-28. Milliseconds since the Unix epoch. */
const BEGIN_MS = Date.UTC(2026, 10, 28);

/**
 * A machine in virtual time: a wall clock and a monotonic one, timers, a disk, and processes. Nothing in it waits:
 * the clock jumps to the next task. All that happens follows from the seed.
 */
export class World {
  readonly random: Random;
  readonly disk: Disk;
  /** What history steps and checks run as. It outlives every fault. */
  readonly outside: Process;
  /** Whose task is running. */
  current: Process;
  /** Called with each line that a process logs; null: nobody listens. */
  onLog: ((process: string, line: string) => void) | null = null;
  /** A promise of a process that was rejected and not awaited, which ends a process of Node.js. */
  unhandled: unknown = null;
  /** Turns of the real event loop that the code of one task takes at most. Streams of Node.js take more than one. */
  turns = 1;
  /** Whether the disk's answers may be late. */
  isDiskSlow = false;
  #monotonic = 0;
  #slept = 0;
  #wallOffset = 0;
  #order = 0;
  #hash = 0x811c9dc5;
  readonly #tasks: Task[] = [];
  /** What the real world has not answered yet. */
  readonly #held = new Set<Promise<void>>();
  readonly #alive = new Set<Process>();

  constructor(seed: number) {
    this.random = new Random(seed);
    this.outside = new Process('the history', 0);
    this.current = this.outside;
    this.disk = new Disk(this);
  }

  /** Milliseconds since the machine was turned on, without the time that it slept. */
  monotonic(): number {
    return this.#monotonic;
  }

  /** Milliseconds since the machine was turned on. */
  sinceBoot(): number {
    return this.#monotonic + this.#slept;
  }

  /** True time, which no process can read. Milliseconds since the Unix epoch. */
  trueTime(): number {
    return BEGIN_MS + this.sinceBoot();
  }

  /** The wall clock of the running process, right or wrong. Milliseconds since the Unix epoch. */
  wall(): number {
    return this.trueTime() + this.#wallOffset + this.current.clockOffset;
  }

  /** By how much the wall clock is ahead of true time. Milliseconds. */
  get wallOffset(): number {
    return this.#wallOffset;
  }

  setWallOffset(ms: number): void {
    this.#wallOffset = ms;
  }

  /** The machine sleeps: no task runs, and the monotonic clock stands still. */
  sleep(ms: number): void {
    this.#slept += ms;
  }

  /** The running task takes this long: others are late by it. */
  spend(ms: number): void {
    this.#monotonic += ms;
  }

  start(name: string, place: { host?: string; pid?: number } = {}): Process {
    const process = new Process(name, this.#monotonic, place);
    this.#alive.add(process);
    return process;
  }

  /** Whether a process of this number runs on a host. */
  isRunning(host: string, pid: number): boolean {
    for (const process of this.#alive) if (process.host === host && process.pid === pid) return true;
    return false;
  }

  /** Stops a process for a time. What comes meanwhile waits. */
  pause(process: Process, ms: number): void {
    process.pausedUntil = Math.max(process.pausedUntil, this.#monotonic + ms);
  }

  /** Ends a process at once. What it awaits never comes. */
  end(process: Process): void {
    if (!process.isAlive) return;
    process.isAlive = false;
    this.#alive.delete(process);
    this.disk.closeAllOf(process);
    for (const ended of process.onEnd.splice(0)) ended();
  }

  /** Counts a call of the running process that a kill may come before. @throws {Killed} */
  beforeOperation(): void {
    const { current } = this;
    if (!current.isAlive) throw new Killed(current);
    const { pauseAfter } = current;
    if (pauseAfter && pauseAfter.operations-- === 0) {
      current.pauseAfter = null;
      this.note(`${current.name} stands still`);
      this.pause(current, pauseAfter.ms);
    }
    if (current.operationsLeft === null) return;
    if (current.operationsLeft > 0) {
      current.operationsLeft -= 1;
      return;
    }
    this.note(`${current.name} is killed within its code`);
    this.end(current);
    throw new Killed(current);
  }

  /** Keeps the clocks and all tasks still until something of the real world has settled. */
  hold(real: Promise<unknown>): void {
    const held = real.then(
      () => undefined,
      () => undefined,
    );
    this.#held.add(held);
    void held.then(() => this.#held.delete(held));
  }

  /** Adds a task of the running process. */
  schedule(ms: number, run: () => void, process = this.current): Task {
    const task = {
      at: this.#monotonic + Math.max(0, ms),
      order: this.#order++,
      process,
      run,
      isCancelled: false,
    };
    this.#push(task);
    return task;
  }

  /** Runs `work` as a process, now. */
  as<T>(process: Process, work: () => T): T {
    const before = this.current;
    this.current = process;
    try {
      return work();
    } finally {
      this.current = before;
    }
  }

  /** Runs `work` as a task of a process, and what it leads to, until it has settled. @throws what it throws */
  async call<T>(process: Process, work: () => T | Promise<T>, withinMs = 60_000): Promise<T> {
    let settled: { value: T } | { error: unknown } | null = null;
    this.schedule(
      0,
      () => {
        Promise.resolve()
          .then(work)
          .then(
            (value) => {
              settled = { value };
            },
            (error: unknown) => {
              settled = { error };
            },
          );
      },
      process,
    );
    await this.until(() => settled !== null || !process.isAlive, withinMs);
    const outcome = settled as { value: T } | { error: unknown } | null;
    if (!process.isAlive) throw new Killed(process);
    if (outcome === null) throw new Error(`nothing came of a call of ${process.name} within ${withinMs} ms`);
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  /** Lets time pass. */
  async run(ms: number): Promise<void> {
    await this.until(() => false, ms);
  }

  /** Lets time pass until a condition holds. @returns whether it does */
  async until(condition: () => boolean, withinMs: number): Promise<boolean> {
    const end = this.#monotonic + withinMs;
    for (;;) {
      do {
        await Promise.all(this.#held);
        for (let turn = 1; turn < this.turns; turn++) await inTurn(() => undefined);
      } while (this.#held.size > 0);
      const isMet = await inTurn(() => this.#runTasks(condition, end));
      if (isMet !== null) return isMet;
    }
  }

  /** @returns whether the condition holds; null: other turns of the real event loop come first */
  #runTasks(condition: () => boolean, end: number): boolean | null {
    for (;;) {
      // Promises run before the next task, as the code of a turn and what it leads to do.
      runPromises();
      if (this.#held.size > 0) return null;
      if (this.unhandled !== null) throw this.unhandled;
      if (condition()) return true;
      const task = this.#tasks[0];
      if (!task || task.at > end) break;
      this.#pop();
      if (this.#runTask(task) && this.turns > 1) return null;
    }
    if (end > this.#monotonic) this.#monotonic = end;
    this.current = this.outside;
    return condition();
  }

  /** @returns whether it has run: not when it is too late or too early */
  #runTask(task: Task): boolean {
    if (task.isCancelled || !task.process.isAlive) return false;
    const { pausedUntil } = task.process;
    if (task.at < pausedUntil) {
      // In the order in which they were due.
      task.at = pausedUntil + (task.at - pausedUntil) * 1e-9 + 1e-3;
      this.#push(task);
      return false;
    }
    if (task.at > this.#monotonic) this.#monotonic = task.at;
    this.current = task.process;
    try {
      task.run();
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
    return true;
  }

  /** Notes something that happened: it goes into the hash of the history, and to whoever listens. */
  note(line: string): void {
    this.mark(line);
    this.onLog?.(this.current.name, line);
  }

  /** Notes something that goes into the hash alone. */
  mark(line: string): void {
    for (let at = 0; at < line.length; at++) {
      this.#hash = Math.imul(this.#hash ^ line.charCodeAt(at), 0x01000193);
    }
  }

  /** A number that differs when anything that was noted differs. */
  get hash(): number {
    return this.#hash >>> 0;
  }

  // A binary heap: by time, then by order.
  #push(task: Task): void {
    const tasks = this.#tasks;
    let at = tasks.length;
    tasks.push(task);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = tasks[parent];
      if (!above || isBefore(above, task)) break;
      tasks[at] = above;
      at = parent;
    }
    tasks[at] = task;
  }

  #pop(): void {
    const tasks = this.#tasks;
    const last = tasks.pop();
    if (!last || tasks.length === 0) return;
    let at = 0;
    for (;;) {
      const left = tasks[2 * at + 1];
      const right = tasks[2 * at + 2];
      if (!left) break;
      const isRight = right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (isBefore(last, child)) break;
      tasks[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    tasks[at] = last;
  }
}

function isBefore(a: Task, b: Task): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

let present: World | null = null;

/** Returns the world that the simulated code runs in. @throws Error when there is none */
export function world(): World {
  if (!present) throw new Error('no simulated world');
  return present;
}

/** Makes a world the one that the simulated code runs in. */
export function enter(next: World): void {
  present = next;
}
