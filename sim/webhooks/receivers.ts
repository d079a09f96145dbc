import type { Process, World } from '../world/world.ts';

/** How a receiver behaves. `status` 0: it never responds. */
export type Behavior = { status: number; afterMs: number; retryAfter?: string };
export const ACCEPTS: Behavior = { status: 200, afterMs: 5 };

export type Answer = { status: number; body: string; retryAfter: string | undefined };
/** What the network does to requests and their answers: probabilities. */
export type ReceiverFaults = { lostRequests: number; lostAnswers: number };
export const NO_RECEIVER_FAULTS: ReceiverFaults = { lostRequests: 0, lostAnswers: 0 };

/** A request that came to a receiver. */
export type Arrival = {
  hook: number;
  id: string;
  body: string;
  /** The moment, true time. Milliseconds. */
  at: number;
  status: number;
  /** What the response asked for. */
  retryAfter: string | undefined;
  /** When its sender got the answer; null: it did not. */
  heardAt: number | null;
  /** The moment on the monotonic clock. Milliseconds. */
  began: number;
  /** Milliseconds of that clock until its sender got the answer; null: it did not. */
  heardAfter: number | null;
  /** Whether the receiver was slow before, so that others may have waited for it. */
  waits: boolean;
};

const LONGEST_WAY_MS = 20;
/** A receiver that takes longer has few attempts at a time. */
const SLOW_MS = 900;

/** The receivers of webhooks, one for each, which remember what came. */
export class Receivers {
  readonly arrivals: Arrival[] = [];
  readonly behaviors: Behavior[];
  faults: ReceiverFaults = { ...NO_RECEIVER_FAULTS };
  /** Called with each request that comes. */
  onArrival: (arrival: Arrival) => void = () => undefined;
  readonly #world: World;
  readonly #process: Process;
  /** Receivers that were slow once. */
  readonly #slow = new Set<number>();

  constructor(world: World, count: number) {
    this.#world = world;
    this.#process = world.start('receivers');
    this.behaviors = Array.from({ length: count }, () => ({ ...ACCEPTS }));
  }

  static url(hook: number): string {
    return `https://receiver-${hook}.example/hook`;
  }

  receive(
    request: { url: string; headers: Record<string, string>; body: string },
    { heard, lost }: { heard(answer: Answer): void; lost(): void },
  ): void {
    const world = this.#world;
    const { random, current: sender } = world;
    const way = () => random.between(0.1, LONGEST_WAY_MS);
    const isLost = random.chance(this.faults.lostRequests);
    const isUnheard = random.chance(this.faults.lostAnswers);
    const lose = () => world.schedule(random.between(1, 300), lost, sender);
    if (isLost) {
      lose();
      return;
    }
    const arrive = () => {
      const hook = Number(/receiver-(\d+)/.exec(request.url)?.[1]);
      const { status, afterMs, retryAfter } = this.behaviors[hook] ?? ACCEPTS;
      const id = request.headers['webhook-id'] ?? '';
      const at = world.trueTime();
      const began = world.monotonic();
      const waits = this.#slow.has(hook);
      const arrival: Arrival = {
        hook,
        id,
        body: request.body,
        at,
        status,
        retryAfter,
        heardAt: null,
        began,
        heardAfter: null,
        waits,
      };
      if (status === 0 || afterMs > SLOW_MS) this.#slow.add(hook);
      this.arrivals.push(arrival);
      this.onArrival(arrival);
      if (status === 0) return;
      const answer = () => {
        arrival.heardAt = world.trueTime();
        arrival.heardAfter = world.monotonic() - began;
        heard({ status, body: 'ok', retryAfter });
      };
      if (isUnheard) lose();
      else world.schedule(afterMs + way(), answer, sender);
    };
    world.schedule(way(), arrive, this.#process);
  }
}
