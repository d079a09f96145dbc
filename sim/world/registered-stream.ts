import { type NewStream, NOTHING_RECORDED, type StreamRecord } from '../../core/event-log/port.ts';
import type { World } from './world.ts';

/** How far the worker has come, as PostgreSQL has it. */
export type Progress = { streamId: string; offset: bigint; stored: bigint; visibleBefore: number };

const NO_PROGRESS: Progress = { streamId: '', offset: 0n, stored: -1n, visibleBefore: 0 };
const ORDINAL = 7;

/** What PostgreSQL knows of the stream: its registration, and the worker's progress. It survives every power cut. */
export class RegisteredStream {
  static readonly DOWN = 'PostgreSQL is down';
  isDown = false;
  hasGoneBack = false;
  readonly #world: World;
  readonly #registered = new Set<string>();
  #progress: Progress[] = [NO_PROGRESS];

  constructor(world: World) {
    this.#world = world;
  }

  get progress(): Progress {
    return this.#progress.at(-1) ?? NO_PROGRESS;
  }

  commit(progress: Progress): void {
    this.#progress.push(progress);
  }

  /** An older state takes over, such as that of an asynchronous standby: the last commits are lost. */
  goBack(): void {
    const lost = this.#world.random.integer(0, Math.min(3, this.#progress.length - 1));
    this.hasGoneBack = true;
    if (lost > 0) this.#progress.splice(-lost);
  }

  readonly register = async (streamId: string): Promise<NewStream> => {
    this.#assertUp();
    this.#registered.add(streamId);
    return { streamId, ordinal: ORDINAL };
  };

  readonly recorded = async (streamId: string): Promise<StreamRecord> => {
    this.#assertUp();
    // The offset counts for every journal of this name, also that of an earlier stream.
    const { offset } = this.progress;
    if (!this.#registered.has(streamId))
      return { ...NOTHING_RECORDED, state: 'unregistered', readUpTo: offset };
    const own = this.#progress.findLast((progress) => progress.streamId === streamId) ?? NO_PROGRESS;
    return { state: 'active', stored: own.stored, readUpTo: offset, visibleBefore: own.visibleBefore };
  };

  #assertUp(): void {
    if (this.isDown) throw new Error(RegisteredStream.DOWN);
  }
}
