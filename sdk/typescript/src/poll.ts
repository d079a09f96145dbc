import type { Click, ClicksPage } from './generated/types.ts';
import { mayPass, pause, pauseOf } from './retry.ts';

/**
 * How far a poll is, as JSON. Store it, and pass it to the next poll of the same clicks.
 *
 * A round reads every click since `since`, newest first, in pages. Its first page has the `watermark`: every click
 * before it is visible already, so the next round begins there. Clicks after it may come twice, and `seen` drops them.
 */
export type PollState = {
  since: string;
  /** Ids of clicks since `since` that were returned in earlier rounds. */
  seen: string[];
  /** A round that is not finished: where the next one begins, what it has to drop, and the next page. */
  round?: { watermark: string; seen: string[]; before: string };
};

export type PollOptions = {
  /** Only clicks of these links, at most 500. */
  linkIds?: readonly string[];
  /** Begins with clicks of this instant, in ISO 8601; by default with the workspace's first click. Not with `state`. */
  since?: string | Date;
  /** Continues a poll. */
  state?: PollState;
  /** Stores the state. It is called after the loop has taken all clicks of a page. */
  onState?: (state: PollState) => void | Promise<void>;
  /** Filters of `GET /clicks`: `{ country: 'DE', bots: 'include' }`. They belong to the state. */
  filter?: Record<string, string | readonly string[] | undefined>;
  /** Pause between two rounds in milliseconds. Default: 2,000. */
  intervalMs?: number;
  /** Ends the poll. */
  signal?: AbortSignal;
  /** Called with each outage. The poll continues after it. */
  onOutage?: (error: Error) => void;
};

/** Clicks of a page that are new, oldest first, and the state after them. */
export type PollBatch = { clicks: Click[]; state: PollState };

/** Every click once, as it becomes visible, without an end. */
export interface Poll extends AsyncIterable<Click> {
  /**
   * The clicks with the state after them. Store both in one transaction, so that a killed process neither loses a click
   * nor gets one twice.
   */
  batches(): AsyncIterable<PollBatch>;
}

type ReadPage = (query: Record<string, unknown>) => Promise<ClicksPage>;

const MICROSECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const BEGINNING = '1970-01-01T00:00:00.000000Z';
const PAGE = 500;
const INTERVAL_MS = 2_000;
/** Times that the pause of an outage doubles. */
const LONGEST_OUTAGE = 6;

/** Returns the poll over `GET /clicks`. */
export function pollOf(readPage: ReadPage, options: PollOptions = {}): Poll {
  const { onState, signal, intervalMs = INTERVAL_MS } = options;
  const readOn = throughOutages(readPage, options);

  const begun = beginningOf(options);

  async function* batches(): AsyncGenerator<PollBatch> {
    let state = begun;
    for (;;) {
      signal?.throwIfAborted();
      const page = await readOn({
        ...options.filter,
        ...(options.linkIds && { link_ids: options.linkIds }),
        limit: PAGE,
        since: state.since,
        before: state.round?.before,
      });
      const batch = next(state, page);
      state = batch.state;
      yield batch;
      await onState?.(state);
      if (state.round === undefined) await pause(intervalMs, signal);
    }
  }

  return {
    batches,
    async *[Symbol.asyncIterator]() {
      for await (const { clicks } of batches()) yield* clicks;
    },
  };
}

/** Returns the later instant, so that a poll never goes back. */
const latest = (a: string, b: string) => (a > b ? a : b);

function beginningOf({ state, since }: PollOptions): PollState {
  if (state !== undefined && since !== undefined) throw new TypeError('pass `state` or `since`, not both');
  return state ?? { since: since === undefined ? BEGINNING : microsecondsOf(since), seen: [] };
}

/** A date, or a date and time with `Z` or an offset. `Date` reads others in the zone of the machine. */
const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/i;

/** Returns an instant as the API writes it. Their texts then sort as their times. */
function microsecondsOf(instant: string | Date): string {
  if (typeof instant === 'string' && MICROSECONDS.test(instant)) return instant;
  const date = new Date(typeof instant === 'string' && !INSTANT.test(instant) ? Number.NaN : instant);
  if (Number.isNaN(date.getTime())) {
    throw new TypeError('`since` must be a Date, or an ISO 8601 date, or date and time with Z or an offset');
  }
  return date.toISOString().replace('Z', '000Z');
}

/** Returns the new clicks of a page, and the state after it. */
export function next(state: PollState, page: ClicksPage): PollBatch {
  // A page that follows has a later watermark: clicks before that one may have been missed by the first page.
  const watermark = state.round?.watermark ?? latest(page.watermark, state.since);
  const dropped = new Set(state.seen);
  const inRound = new Set(state.round?.seen);
  const clicks = page.clicks.filter(({ id }) => !dropped.has(id) && !inRound.has(id)).reverse();
  for (const { id, ts } of page.clicks) if (ts >= watermark) inRound.add(id);
  const before = page.next_cursor;
  const seen = [...inRound];
  if (before === null) return { clicks, state: { since: watermark, seen } };
  return { clicks, state: { ...state, round: { watermark, seen, before } } };
}

/**
 * Waits as long as an outage lasts, once there was a response. Before that, an address may be wrong.
 */
function throughOutages(readPage: ReadPage, { signal, onOutage }: PollOptions): ReadPage {
  let wasReached = false;
  return async (query) => {
    for (let failures = 0; ; failures++) {
      try {
        const page = await readPage(query);
        wasReached = true;
        return page;
      } catch (error) {
        if (!wasReached || !mayPass(error)) throw error;
        onOutage?.(error);
        await pause(pauseOf(Math.min(failures, LONGEST_OUTAGE), error.retryAfter), signal);
      }
    }
  };
}
