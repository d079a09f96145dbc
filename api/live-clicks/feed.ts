import { setTimeout as delay } from 'node:timers/promises';
import { type ClicksSince, clicksSince, newestOfStreams } from '../../clickhouse/queries/clicks-since.ts';
import type { ShownClick } from '../../core/clicks/click-record.ts';
import { NANOS_PER_DAY, NANOS_PER_MICRO, NANOS_PER_SECOND, nowNanos } from '../../core/time/timestamps.ts';
import { watermark } from '../../sql/event-log/streams.ts';
import type { ApiDeps } from '../dependencies.ts';
import { Position } from './position.ts';

type Stores = Pick<ApiDeps, 'pool' | 'clickhouse'>;

/** Pause between two looks at the store. Milliseconds. */
const POLL_MS = 500;
const BATCH = 1_000;
/** The store may be away that long before those who listen are sent away. Milliseconds. */
const PATIENCE_MS = 10_000;

/**
 * The watermark goes back only where a clock was ahead and was set back. Readers then connect again, and go on where they were.
 * Nanoseconds, more than what the oldest live click moves between two looks.
 */
const SET_BACK = 5n * NANOS_PER_SECOND;

/** New clicks, oldest first; afterwards every click before `settled` was given. */
export type Listener = {
  clicks(clicks: readonly ShownClick[], settled: bigint): void;
  /** The store has not answered for a while: nothing more will come. */
  lost(): void;
};

/**
 * How far back the live stream goes. A stream of the event log whose process is dead holds the watermark, for days
 * perhaps: clicks older than this are for `GET /clicks`.
 */
export const oldestLive = (): bigint => nowNanos() - NANOS_PER_DAY;

/** The watermark, in nanoseconds and no older than {@link oldestLive}. Read it before the clicks. */
export async function settledBefore({ pool }: Pick<Stores, 'pool'>): Promise<bigint> {
  const visible = BigInt((await watermark(pool)) ?? 0) * NANOS_PER_MICRO;
  const oldest = oldestLive();
  return visible > oldest ? visible : oldest;
}

/** What is settled after a batch: of a full one no more than what it reached. */
export function settledAfter(clicks: readonly ShownClick[], limit: number, visible: bigint): bigint {
  const last = clicks.at(-1);
  if (clicks.length < limit || !last) return visible;
  return last.tsNanos < visible ? last.tsNanos : visible;
}

/** The next clicks after a position, oldest first. */
export function nextClicks(
  { clickhouse }: Pick<Stores, 'clickhouse'>,
  position: Position,
  filter: Omit<ClicksSince, 'since' | 'given'>,
  limit: number,
): Promise<ShownClick[]> {
  return clicksSince(clickhouse, { ...filter, since: position.settled, given: position.newest }, limit);
}

/** A workspace's new clicks, looked for while somebody listens, once for all of them. */
export type Feed = {
  /** From now on the listener gets exactly what follows {@link Feed.position}. @returns false when the feed has ended */
  listen(listener: Listener): boolean;
  position(): Position;
  leave(listener: Listener): void;
};

/** The feeds of all workspaces that somebody listens to. */
export type Feeds = {
  /** Listens to a workspace's clicks until it leaves. @throws when a store is down */
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
        // Without a listener a feed ends, perhaps in this moment.
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
  const visible = await settledBefore(deps);
  const position = new Position(visible, await newestOfStreams(deps.clickhouse, workspaceId, visible));
  const listeners = new Set<Listener>();
  let isOver = false;
  const filter = { workspaceId, linkIds: null, channel: null, country: null, bots: true };

  /** @returns whether there may be more at once */
  async function look(): Promise<boolean> {
    const before = await settledBefore(deps);
    if (before < position.settled - SET_BACK) {
      isOver = true;
      return false;
    }
    const found = await nextClicks(deps, position, filter, BATCH);
    for (const { tsNanos } of found) position.take(tsNanos);
    const settled = settledAfter(found, BATCH, before);
    position.settle(settled);
    for (const listener of listeners) listener.clicks(found, settled);
    return found.length === BATCH;
  }

  async function run(): Promise<void> {
    let answeredAt = Date.now();
    let more = false;
    while (!isOver) {
      if (!more) await delay(POLL_MS, undefined, { ref: false });
      if (listeners.size === 0) break;
      try {
        more = await look();
        answeredAt = Date.now();
      } catch (error) {
        more = false;
        deps.log.debug({ err: error }, 'failed to read live clicks; will retry');
        if (Date.now() - answeredAt > PATIENCE_MS) break;
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
