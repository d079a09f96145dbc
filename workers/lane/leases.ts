import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../sql/database/pool.ts';
import { type Lane, LaneLost, renewLanes } from '../../sql/event-log/lanes.ts';
import { recordHeartbeat } from '../../sql/event-log/live-workers.ts';
import { untilNextTick } from '../next-tick.ts';

/** The lease of a lane that this process holds. */
export type Lease = {
  /** Whether it has not expired, as far as this process knows. */
  isHeld(): boolean;
  /** Renews it now. @throws {LaneLost} */
  renew(): Promise<void>;
  /** Returns how often it was renewed after it had expired: another worker may have held the lane meanwhile. */
  lapses(): number;
};

/** The leases of the lanes of this process, and the record that it is alive. */
export type Leases = {
  /** Renews the lease of a lane from now on. @param onLost called when another worker has taken the lane */
  keep(lane: Lane, onLost: (error: LaneLost) => void): Lease & { end(): void };
  /**
   * Records that a holder lives, for one of its consumers. Calls of one turn of the event loop share a statement.
   *
   * @returns the holders of this consumer that are alive, this one included
   */
  recordLive(consumer: string, holder: string): Promise<string[]>;
  stop(): Promise<void>;
};

export const LEASE = {
  lengthMs: 3_000,
  /** All leases of a process are renewed together. */
  renewEveryMs: 1_000,
} as const;

/** `until`: when the lease expires, by the wall clock and by the monotonic clock. Milliseconds. */
type Kept = {
  lane: Lane;
  until: { wall: number; monotonic: number };
  lapses: number;
  lost: LaneLost | null;
  onLost: (error: LaneLost) => void;
};

const isHeld = ({ until }: Kept): boolean => Date.now() < until.wall && performance.now() < until.monotonic;

/** Keeps the leases of this process's lanes renewed, in one statement for all of them. */
export function keepLeases(pool: Pool): Leases {
  const kept = new Set<Kept>();
  const recording = new Map<string, { consumers: string[]; live: Promise<Map<string, string[]>> }>();
  const stopping = new AbortController();

  async function renew(leases: readonly Kept[]): Promise<void> {
    if (leases.length === 0) return;
    // By both clocks: the monotonic one stops while the machine sleeps, and the wall clock may be set back.
    const until = {
      wall: Date.now() + LEASE.lengthMs,
      monotonic: performance.now() + LEASE.lengthMs,
    };
    const lanes = leases.map(({ lane }) => lane);
    const lost = new Set(await renewLanes(pool, lanes, LEASE.lengthMs));
    for (const lease of leases) {
      if (!lost.has(lease.lane)) {
        if (!isHeld(lease)) lease.lapses += 1;
        lease.until = until;
        continue;
      }
      kept.delete(lease);
      lease.lost = new LaneLost(lease.lane);
      lease.onLost(lease.lost);
    }
  }

  function recordLive(consumer: string, holder: string): Promise<string[]> {
    let shared = recording.get(holder);
    if (!shared) {
      const consumers: string[] = [];
      const live = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        recording.delete(holder);
        return recordHeartbeat(pool, { consumers, holder, liveMs: LEASE.lengthMs });
      });
      shared = { consumers, live };
      recording.set(holder, shared);
    }
    shared.consumers.push(consumer);
    return shared.live.then((live) => live.get(consumer) ?? [holder]);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(untilNextTick(LEASE.renewEveryMs), undefined, { signal: stopping.signal }).catch(
        () => undefined,
      );
      // While PostgreSQL is down no worker can take a lane, and the lanes themselves log it.
      await renew([...kept]).catch(() => undefined);
    }
  }
  const running = run();

  return {
    keep(lane, onLost) {
      // Begins as expired, so the first insert renews it.
      const lease: Kept = { lane, until: { wall: 0, monotonic: 0 }, lapses: 0, lost: null, onLost };
      kept.add(lease);
      return {
        isHeld: () => isHeld(lease),
        lapses: () => lease.lapses,
        async renew() {
          await renew([lease]);
          if (lease.lost) throw lease.lost;
        },
        end: () => void kept.delete(lease),
      };
    },
    recordLive,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
