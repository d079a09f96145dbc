import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { type ClicksSince, clicksSince, newestOfStreams } from '../../clickhouse/queries/clicks-since.ts';
import type { ShownClick } from '../../core/clicks/click-record.ts';
import { NANOS_PER_DAY, NANOS_PER_MICRO, NANOS_PER_SECOND, nowNanos } from '../../core/time/timestamps.ts';
import type { ApiDeps } from '../dependencies.ts';
import { Position } from './position.ts';

type Stores = Pick<ApiDeps, 'readers'>;

/** Poll interval of ClickHouse. Milliseconds. */
const POLL_MS = 500;
const BATCH = 1_000;
/** Time that ClickHouse may be down before listeners are disconnected. Milliseconds. */
const PATIENCE_MS = 10_000;

/**
 * A step back of the watermark beyond this means that a wrong clock was corrected. Clients then reconnect and resume.
 * Nanoseconds, more than the oldest live click moves between two polls.
 */
const SET_BACK = 5n * NANOS_PER_SECOND;

/** New clicks, oldest first. After them, every click before `settled` has been sent. */
export type Listener = {
  clicks(clicks: readonly ShownClick[], settled: bigint): void;
  /** ClickHouse has been down too long: the feed has ended. */
  lost(): void;
};

/**
 * Time of the oldest live click. The stream of a dead process may hold the watermark for days: older clicks are for
 * `GET /clicks`.
 */
export const oldestLive = (): bigint => nowNanos() - NANOS_PER_DAY;

/** A replica, and the time before which it has every click, at least {@link oldestLive}. */
type LiveSource = { clickhouse: ClickHouseClient; before: bigint };

/** Runs a read on a replica that has every click before `settled`, in nanoseconds. */
export async function readLive<T>(
  { readers }: Stores,
  settled: bigint,
  run: (source: LiveSource) => Promise<T>,
): Promise<T> {
  const start = { marks: await readers.marks(), atLeast: Number(settled / NANOS_PER_MICRO) };
  return readers.readFrom(start, ({ clickhouse, watermark }) => {
    const visible = BigInt(watermark ?? 0) * NANOS_PER_MICRO;
    const oldest = oldestLive();
    return run({ clickhouse, before: visible > oldest ? visible : oldest });
  });
}

/** Returns the settled time after a batch. For a full batch it is the time of the last click. */
export function settledAfter(clicks: readonly ShownClick[], limit: number, visible: bigint): bigint {
  const last = clicks.at(-1);
  if (clicks.length < limit || !last) return visible;
  return last.tsNanos < visible ? last.tsNanos : visible;
}

/** Returns the next clicks after a position, oldest first. */
export function nextClicks(
  clickhouse: ClickHouseClient,
  position: Position,
  filter: Omit<ClicksSince, 'since' | 'given'>,
  limit: number,
): Promise<ShownClick[]> {
  return clicksSince(clickhouse, { ...filter, since: position.settled, given: position.newest }, limit);
}

/** A workspace's new clicks, polled once for all listeners while there are any. */
export type Feed = {
  /**
   * Adds a listener, which gets exactly the clicks after {@link Feed.position}. @returns false when the feed has ended
   */
  listen(listener: Listener): boolean;
  position(): Position;
  leave(listener: Listener): void;
};

/** The feeds of all workspaces with listeners. */
export type Feeds = {
  /** Adds a listener to a workspace's clicks. @throws when a database is down */
  join(workspaceId: string, listener: Listener): Promise<Feed>;
};

export function createFeeds(deps: Stores & Pick<ApiDeps, 'log'>): Feeds {
  const feeds = new Map<string, Promise<Feed>>();

  function feedOf(workspaceId: string): Promise<Feed> {
    const running = feeds.get(workspaceId);
    if (running) return running;
    const started = startFeed(deps, workspaceId, () => feeds.delete(workspaceId));
    feeds.set(workspaceId, started);
    started.catch(() => feeds.delete(workspaceId));
    return started;
  }

  return {
    async join(workspaceId, listener) {
      for (;;) {
        // A feed without listeners ends, possibly right now.
        const feed = await feedOf(workspaceId);
        if (feed.listen(listener)) return feed;
      }
    },
  };
}

async function startFeed(
  deps: Stores & Pick<ApiDeps, 'log'>,
  workspaceId: string,
  ended: () => void,
): Promise<Feed> {
  const position = await readLive(
    deps,
    0n,
    async ({ clickhouse, before }) =>
      new Position(before, await newestOfStreams(clickhouse, workspaceId, before)),
  );
  const listeners = new Set<Listener>();
  let isOver = false;
  const filter = { workspaceId, linkIds: null, bots: true, orphans: 'include' as const, conditions: [] };

  /** @returns whether there may be more clicks now */
  async function look(): Promise<boolean> {
    const { before, found } = await readLive(deps, position.settled, async (source) => {
      const isSetBack = source.before < position.settled - SET_BACK;
      return {
        before: source.before,
        found: isSetBack ? null : await nextClicks(source.clickhouse, position, filter, BATCH),
      };
    });
    if (found === null) {
      isOver = true;
      return false;
    }
    for (const { tsNanos } of found) position.take(tsNanos);
    const settled = settledAfter(found, BATCH, before);
    position.settle(settled);
    for (const listener of listeners) listener.clicks(found, settled);
    return found.length === BATCH;
  }

  async function run(): Promise<void> {
    let answeredAt = performance.now();
    let more = false;
    while (!isOver) {
      if (!more) await delay(POLL_MS, undefined, { ref: false });
      if (listeners.size === 0) break;
      try {
        more = await look();
        answeredAt = performance.now();
      } catch (error) {
        more = false;
        deps.log.debug({ err: error }, 'failed to read live clicks; will retry');
        if (performance.now() - answeredAt > PATIENCE_MS) break;
      }
    }
    isOver = true;
    ended();
    for (const listener of [...listeners]) listener.lost();
  }

  void run();
  return {
    listen(listener) {
      if (!isOver) listeners.add(listener);
      return !isOver;
    },
    position: () => position.copy(),
    leave: (listener) => void listeners.delete(listener),
  };
}
