import type { Process, World } from './world.ts';

/**
 * What the network does to requests: probabilities, the delay of a held request, and the delay of a response.
 * Milliseconds.
 */
export type NetworkFaults = {
  lostRequests: number;
  lostAnswers: number;
  heldUp: number;
  heldUpMs: number;
  lateMs?: number;
};

/** What does not reach a process that is cut off: its requests are lost, or the responses to them. */
export type Cut = 'requests' | 'answers';

export const NO_NETWORK_FAULTS: NetworkFaults = {
  lostRequests: 0,
  lostAnswers: 0,
  heldUp: 0,
  heldUpMs: 0,
  lateMs: 0,
};

/** Longest time until the sender of a lost request learns of it. Milliseconds. */
const NOTICED_WITHIN_MS = 400;

/** Carries requests of processes to a server, which finishes what it has received even when the sender is gone. */
export class Network {
  faults: NetworkFaults = { ...NO_NETWORK_FAULTS };
  /** Processes that are cut off from the server. */
  readonly cuts = new Map<Process, Cut>();
  readonly #world: World;
  readonly #server: Process;

  constructor(world: World, server: Process) {
    this.#world = world;
    this.#server = server;
  }

  /** Runs something at the server once it has noticed that a sender is gone. */
  later(run: () => void): void {
    const afterMs = this.faults.heldUpMs + this.#world.random.between(1, NOTICED_WITHIN_MS);
    this.#world.schedule(afterMs, run, this.#server);
  }

  /**
   * Runs `work` at the server, and returns its response to the running process.
   *
   * @param onUnheard called at the server some time after the sender has ended, or the response was lost
   * @throws what `work` throws; Error when the request or the response is lost, or comes too late
   */
  ask<T>(work: () => Promise<T>, onUnheard?: (value: T) => void): Promise<T> {
    const world = this.#world;
    const { random } = world;
    const sender = world.current;
    const { lostRequests, lostAnswers, heldUp, heldUpMs, lateMs = 0 } = this.faults;
    const isHeldUp = random.chance(heldUp);
    const isAnswerLost = isHeldUp || random.chance(lostAnswers) || this.cuts.get(sender) === 'answers';
    const arrivesAfter = isHeldUp ? random.between(0, heldUpMs) : random.between(0.05, 3);
    return new Promise((resolve, reject) => {
      const answer = (run: () => void) => world.schedule(random.between(0.05, 3 + lateMs), run, sender);
      const lose = () =>
        world.schedule(
          random.between(1, NOTICED_WITHIN_MS),
          () => reject(new Error('the connection was lost')),
          sender,
        );
      if (this.cuts.get(sender) === 'requests' || random.chance(lostRequests)) {
        lose();
        return;
      }
      if (isHeldUp) lose();
      const arrive = () => {
        work().then(
          (value) => {
            const isHeard = sender.isAlive && !isAnswerLost;
            if (isHeard) answer(() => resolve(value));
            else if (!isHeldUp) lose();
            if (!onUnheard) return;
            const notice = () => this.later(() => onUnheard(value));
            if (isHeard) sender.onEnd.push(notice);
            else notice();
          },
          (error: unknown) => answer(() => reject(error)),
        );
      };
      world.schedule(arrivesAfter, arrive, this.#server);
    });
  }
}
