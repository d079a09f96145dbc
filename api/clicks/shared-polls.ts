import type { ClickHouseClient } from '../../clickhouse/client.ts';
import type { ClickText } from '../../clickhouse/queries/click-text.ts';
import { type ClickFilter, newestClicks } from '../../clickhouse/queries/newest-clicks.ts';
import { NANOS_PER_MICRO, nowNanos } from '../../core/time/timestamps.ts';

/** Reads the newest clicks of a filter, `limit` at most, newest first. */
export type ReadClicks = (filter: ClickFilter, limit: number) => Promise<ClickText[]>;

/** A poll asks for what is new: no more than this behind. Others would make those that wait with them slow. */
const RECENT = 300_000_000n * NANOS_PER_MICRO;
/** Clicks that one question brings for all who wait. When there are more, each asks alone. */
const MOST_ROWS = 10_000;
/** Links that one question names. */
const MOST_LINKS = 5_000;

type Poll = ClickFilter & { since: bigint; linkIds: string[] };
type Waiting = {
  poll: Poll;
  limit: number;
  resolve(page: ClickText[]): void;
  reject(error: unknown): void;
};

/**
 * Reads pages of clicks; polls of one workspace (`link_ids` and a recent `since`) that come while another is being
 * answered are answered together by the next question. So two hundred integrators cost the stores as much as a few,
 * and each still gets what a question of their own, asked at that moment, would have brought
 * (`bench/pollers.ts`). Nothing is kept between two questions.
 */
export function createClickReader(client: ClickHouseClient): ReadClicks {
  /** Polls that wait for the question under way in their workspace. */
  const underWay = new Map<string, Waiting[]>();

  const alone: ReadClicks = (filter, limit) => newestClicks(client, filter, limit);

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
    underWay.delete(workspaceId);
  }

  return (filter, limit) => {
    if (!isPoll(filter)) return alone(filter, limit);
    return new Promise((resolve, reject) => {
      const one = { poll: filter, limit, resolve, reject };
      const running = underWay.get(filter.workspaceId);
      if (running !== undefined) {
        running.push(one);
        return;
      }
      const waiting = [one];
      underWay.set(filter.workspaceId, waiting);
      void work(filter.workspaceId, waiting);
    });
  };
}

function isPoll(filter: ClickFilter): filter is Poll {
  const { since, before, linkIds } = filter;
  return linkIds !== null && before === null && since !== null && since > nowNanos() - RECENT;
}

function oldestSince(polls: readonly Waiting[]): bigint {
  let oldest = nowNanos();
  for (const { poll } of polls) if (poll.since < oldest) oldest = poll.since;
  return oldest;
}

/** Takes those who have waited longest, as many as one question can name the links of. */
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

/** Each poll's own of the rows, in their order. */
function divide(rows: readonly ClickText[], polls: readonly Waiting[]): ClickText[][] {
  const pages = polls.map((): ClickText[] => []);
  const askers = new Map<string, number[]>();
  polls.forEach(({ poll }, index) => {
    for (const link of new Set(poll.linkIds)) {
      const known = askers.get(link);
      if (known) known.push(index);
      else askers.set(link, [index]);
    }
  });
  for (const row of rows) {
    for (const index of askers.get(row.linkId) ?? []) {
      const asker = polls[index];
      const page = pages[index];
      if (!asker || !page || page.length >= asker.limit) continue;
      if (row.tsNanos >= asker.poll.since && (asker.poll.bots || !row.isBot)) page.push(row);
    }
  }
  return pages;
}
