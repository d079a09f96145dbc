import { systemError } from '../world/disk.ts';
import { Killed, world } from '../world/world.ts';
import { performance } from './perf-hooks.ts';

type Task = ReturnType<ReturnType<typeof world>['schedule']>;

/** A timer as Node.js returns it. */
class Timer {
  readonly #task: { current: Task };

  constructor(task: { current: Task }) {
    this.#task = task;
  }

  cancel(): void {
    this.#task.current.isCancelled = true;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

function after(run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): Timer {
  // Node.js rounds down to whole milliseconds, and waits at least one.
  return new Timer({ current: world().schedule(Math.max(1, Math.floor(ms)), () => run(...args)) });
}

function every(run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): Timer {
  const task: { current: Task } = { current: world().schedule(Math.max(1, ms), again) };
  function again(): void {
    task.current = world().schedule(Math.max(1, ms), again);
    run(...args);
  }
  return new Timer(task);
}

function nextTurn(run: (...args: unknown[]) => void, ...args: unknown[]): Timer {
  return new Timer({ current: world().schedule(0, () => run(...args)) });
}

const cancel = (timer: Timer | undefined | null) => timer?.cancel();

class SimulatedDate extends Date {
  constructor(...args: [] | [number | string | Date] | [number, number]) {
    if (args.length === 0) super(Math.floor(world().wall()));
    else if (args.length === 1) super(args[0]);
    else super(...args);
  }

  static override now(): number {
    return Math.floor(world().wall());
  }
}

/** Notes what would end a process. What a killed one rejects reaches nobody. */
export function catchUnhandled(): void {
  process.on('unhandledRejection', (error) => {
    if (!(error instanceof Killed) && world().current.isAlive) world().unhandled ??= error;
  });
}

/** `process.kill` with signal 0, which asks whether a process runs. */
function signal(pid: number): true {
  const present = world();
  if (present.isRunning(present.current.host, pid)) return true;
  throw systemError('ESRCH', 'kill', String(pid));
}

/** Replaces clocks, timers and chance of this process by those of the simulated world. There is no way back. */
export function replaceGlobals(): void {
  Math.random = () => world().random.next();
  process.kill = signal;
  Object.defineProperty(globalThis, 'performance', { value: performance });
  Object.assign(globalThis, {
    Date: SimulatedDate,
    setTimeout: after,
    clearTimeout: cancel,
    setInterval: every,
    clearInterval: cancel,
    setImmediate: nextTurn,
    clearImmediate: cancel,
  });
}
