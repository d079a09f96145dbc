import type { ClickHouseClient } from '../../clickhouse/client.ts';
import type { ClickText } from '../../clickhouse/queries/click-text.ts';
import { type ClickFilter, newestClicks } from '../../clickhouse/queries/newest-clicks.ts';
import { NANOS_PER_MICRO, nowNanos } from '../../core/time/timestamps.ts';

/** Reads the newest clicks of a filter from one replica, `limit` at most, newest first. */
export type ReadClicks = (
  client: ClickHouseClient,
  filter: ClickFilter,
  limit: number,
) => Promise<ClickText[]>;

/** A poll reads what is new, at most this far back: older reads would slow the polls that share their query. */
const RECENT = 300_000_000n * NANOS_PER_MICRO;
/** Most clicks of a shared query. When there are more, each poll gets a query of its own. */
const MOST_ROWS = 10_000;
/** Most links of a shared query. */
const MOST_LINKS = 5_000;

type Poll = ClickFilter & { since: bigint; linkIds: string[] };
type Waiting = {
  poll: Poll;
  limit: number;
  resolve(page: ClickText[]): void;
  reject(error: unknown): void;
};

/**
 * Creates a reader of pages of clicks. Polls of one workspace (`link_ids` and a recent `since`, no filters) that arrive
 * while another runs share the next query, so two hundred pollers cost as much as a few (`bench/pollers.ts`). Each gets
 * what a query of its own, started at that moment, would return. Nothing is cached.
 */
export function createClickReader(): ReadClicks {
  const readerOf = new WeakMap<ClickHouseClient, ReadReplica>();
  return (client, filter, limit) => {
    const reader = readerOf.get(client) ?? createReplicaReader(client);
    readerOf.set(client, reader);
    return reader(filter, limit);
  };
}

type ReadReplica = (filter: ClickFilter, limit: number) => Promise<ClickText[]>;

function createReplicaReader(client: ClickHouseClient): ReadReplica {
  /** Polls that wait for the running query of their workspace. */
  const running = new Map<string, Waiting[]>();

  const alone: ReadReplica = (filter, limit) => newestClicks(client, filter, limit);

  async function together(polls: readonly Waiting[]): Promise<void> {
    const [first] = polls;
    if (first === undefined) return;
    if (polls.length === 1) return first.resolve(await alone(first.poll, first.limit));
    const all: ClickFilter = {
      ...first.poll,
      since: oldestSince(polls),
      linkIds: [...new Set(polls.flatMap(({ poll }) => poll.linkIds))],
      bots: polls.some(({ poll }) => poll.bots),
      hasDeletedLinks: polls.some(({ poll }) => poll.hasDeletedLinks),
    };
    const rows = await alone(all, MOST_ROWS + 1);
    if (rows.length > MOST_ROWS) {
      for (const { poll, limit, resolve, reject } of polls) alone(poll, limit).then(resolve, reject);
      return;
    }
    const pages = divide(rows, polls);
    polls.forEach(({ resolve }, index) => {
      resolve(pages[index] ?? []);
    });
  }

  async function work(workspaceId: string, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) {
      const polls = takeSome(waiting);
      try {
        await together(polls);
      } catch (error) {
        for (const { reject } of polls) reject(error);
      }
    }
    running.delete(workspaceId);
  }

  return (filter, limit) => {
    if (!isPoll(filter)) return alone(filter, limit);
    return new Promise((resolve, reject) => {
      const one = { poll: filter, limit, resolve, reject };
      const queue = running.get(filter.workspaceId);
      if (queue !== undefined) {
        queue.push(one);
        return;
      }
      const waiting = [one];
      running.set(filter.workspaceId, waiting);
      void work(filter.workspaceId, waiting);
    });
  };
}

function isPoll(filter: ClickFilter): filter is Poll {
  const { since, before, linkIds, conditions, orphans } = filter;
  if (conditions.length > 0 || orphans !== 'exclude') return false;
  return linkIds !== null && before === null && since !== null && since > nowNanos() - RECENT;
}

function oldestSince(polls: readonly Waiting[]): bigint {
  let oldest = nowNanos();
  for (const { poll } of polls) if (poll.since < oldest) oldest = poll.since;
  return oldest;
}

/** Takes the polls that have waited longest, up to the most links of a query. */
function takeSome(waiting: Waiting[]): Waiting[] {
  let links = 0;
  let count = 0;
  for (const { poll } of waiting) {
    links += poll.linkIds.length;
    if (count > 0 && links > MOST_LINKS) break;
    count += 1;
  }
  return waiting.splice(0, count);
}

/** Returns each poll's own rows, in order. */
function divide(rows: readonly ClickText[], polls: readonly Waiting[]): ClickText[][] {
  const pages = polls.map((): ClickText[] => []);
  const pollsOf = new Map<string, number[]>();
  polls.forEach(({ poll }, index) => {
    for (const link of new Set(poll.linkIds)) {
      const known = pollsOf.get(link);
      if (known) known.push(index);
      else pollsOf.set(link, [index]);
    }
  });
  for (const row of rows) {
    for (const index of pollsOf.get(row.linkId) ?? []) {
      const one = polls[index];
      const page = pages[index];
      if (!one || !page || page.length >= one.limit) continue;
      if (row.tsNanos >= one.poll.since && (one.poll.bots || !row.isBot)) page.push(row);
    }
  }
  return pages;
}
