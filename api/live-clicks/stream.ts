import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { Condition, Orphans } from '../../clickhouse/queries/click-conditions.ts';
import { clickRecord, type ShownClick } from '../../core/clicks/click-record.ts';
import type { ApiDeps } from '../dependencies.ts';
import { type Feed, type Feeds, type Listener, nextClicks, readLive, settledAfter } from './feed.ts';
import type { Position } from './position.ts';
import { passes } from './wanted.ts';

/** Interval of heartbeats and of access checks. Milliseconds. */
const HEARTBEAT_MS = 15_000;
/** Delay before a browser reconnects. Milliseconds. */
const RETRY_MS = 1_000;
/**
 * Maximum bytes buffered for a slow reader when more clicks arrive. Past it the connection is cut, and the next one
 * resumes. New clicks arrive in batches of a limited size, so a burst alone cuts no connection.
 */
const MOST_WAITING = 1_048_576;
/** Clicks of the feed buffered while older ones are sent. */
const MOST_HELD = 1_000;
const BATCH = 500;

/** The clicks that a connection receives. */
export type LiveFilter = {
  linkIds: readonly string[] | null;
  bots: boolean;
  orphans: Orphans;
  conditions: readonly Condition[];
};

export type LiveRequest = {
  workspaceId: string;
  filter: LiveFilter;
  /** The position to resume from; null: only new clicks. */
  after: Position | null;
  /** Returns whether the client still has access. */
  isStillAllowed: () => Promise<boolean>;
};

export type LiveStream = {
  /** The body of the response. */
  body: Readable;
  /** Ends the response now; the next connection sends the clicks that its reader has not received. */
  end(): void;
};

/**
 * Streams the clicks after `after` from ClickHouse, then those of the feed, each exactly once.
 *
 * @throws when a database is down, before anything is sent
 */
export async function openLiveStream(
  deps: Pick<ApiDeps, 'readers' | 'log'>,
  feeds: Feeds,
  { workspaceId, filter, after, isStillAllowed }: LiveRequest,
): Promise<LiveStream> {
  const body = new PassThrough();
  const linkIds = filter.linkIds && new Set(filter.linkIds);
  const held: { clicks: readonly ShownClick[]; settled: bigint }[] = [];
  let heldClicks = 0;
  let isCatchingUp = after !== null;

  const passesFilters = passes(filter.conditions);
  const isOnLink = ({ link_id }: ShownClick) =>
    filter.orphans === 'include' || (link_id === null) === (filter.orphans === 'only');

  const wanted = (click: ShownClick) =>
    (filter.bots || !click.is_bot) &&
    (linkIds === null || (click.link_id !== null && linkIds.has(click.link_id))) &&
    isOnLink(click) &&
    passesFilters(click);

  const waiting = () => body.writableLength + body.readableLength;

  const listener: Listener = {
    clicks(clicks, settled) {
      if (isCatchingUp) {
        held.push({ clicks, settled });
        heldClicks += clicks.length;
      } else if (waiting() > MOST_WAITING) body.destroy();
      else send(clicks, settled);
    },
    lost: end,
  };
  const feed: Feed = await feeds.join(workspaceId, listener);
  const position = after ?? feed.position();

  function send(clicks: readonly ShownClick[], settled: bigint): void {
    if (!body.writable) return;
    for (const click of clicks) {
      if (!position.take(click.tsNanos) || !wanted(click)) continue;
      body.write(`id: ${position}\nevent: click\ndata: ${JSON.stringify(clickRecord(click))}\n\n`);
    }
    position.settle(settled);
  }

  /** Sends stored clicks at the reader's pace until the feed has all later ones. */
  async function catchUp(): Promise<void> {
    while (body.writable) {
      const { before, found } = await readLive(deps, position.settled, async (source) => ({
        before: source.before,
        found: await nextClicks(source.clickhouse, position, { workspaceId, ...filter }, BATCH),
      }));
      send(found, settledAfter(found, BATCH, before));
      if (body.writableNeedDrain) await drainedOrClosed(body);
      if (found.length === BATCH) continue;
      if (heldClicks <= MOST_HELD) break;
      // The buffer overflowed; the clicks are in ClickHouse as well.
      held.length = 0;
      heldClicks = 0;
    }
    isCatchingUp = false;
    for (const { clicks, settled } of held.splice(0)) send(clicks, settled);
  }

  function end(): void {
    // Buffered clicks are sent to a reader that has not started. A reader that has fallen behind would keep the
    // connection open, so it is cut.
    const hasReader = body.readableFlowing !== null;
    if (hasReader && waiting() > 0) body.destroy();
    else body.end();
  }

  async function endUnlessAllowed(): Promise<void> {
    try {
      if (!(await isStillAllowed())) end();
    } catch (error) {
      // The next heartbeat retries; the feed ends when ClickHouse stays down.
      deps.log.debug({ err: error }, 'failed to check the access of a live stream');
    }
  }

  // A comment keeps proxies from closing a quiet connection; the id is the reader's position.
  const heartbeat = setInterval(() => {
    if (body.writable) body.write(`: heartbeat\nid: ${position}\n\n`);
    void endUnlessAllowed();
  }, HEARTBEAT_MS);
  body.once('close', () => {
    clearInterval(heartbeat);
    feed.leave(listener);
  });
  body.write(`retry: ${RETRY_MS}\nid: ${position}\n\n`);
  if (isCatchingUp) {
    catchUp().catch((error: unknown) => {
      if (!body.destroyed) deps.log.debug({ err: error }, 'failed to read missed live clicks');
      body.destroy();
    });
  }
  return { body, end };
}

async function drainedOrClosed(body: PassThrough): Promise<void> {
  const happened = new AbortController();
  const { signal } = happened;
  await Promise.race([once(body, 'drain', { signal }), once(body, 'close', { signal })]);
  happened.abort();
}
