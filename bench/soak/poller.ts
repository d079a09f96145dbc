import { setTimeout as delay } from 'node:timers/promises';

type Page = { clicks: { visitor_id: string }[]; next_cursor: string | null; watermark: string };

/** Polls `GET /clicks`, each time from the previous watermark. */
export type Poller = {
  /** Time at which each visitor was first received, milliseconds since the epoch. */
  seen: Map<string, number>;
  /** The watermark of the last poll, milliseconds since the epoch. */
  watermark(): number;
  /** Watermarks older than a previous one. */
  regressions: string[];
  /** Complete polls. */
  polls(): number;
  /** Polls retried without a response. */
  failures(): number;
  stop(): Promise<void>;
};

const PAUSE_MS = 100;

/** @param apis used in rotation, to compare watermarks of different processes */
export function startPoller(apis: string[], key: string): Poller {
  const seen = new Map<string, number>();
  const regressions: string[] = [];
  let since = new Date().toISOString();
  let newest = '';
  let failures = 0;
  let stopped = false;
  let asked = 0;
  let polls = 0;

  async function page(before: string | null): Promise<Page> {
    const cursor = before === null ? '' : `&before=${encodeURIComponent(before)}`;
    const query = `limit=500&bots=include&since=${encodeURIComponent(since)}${cursor}`;
    const answer = await fetch(`${apis[asked++ % apis.length]}/clicks?${query}`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(20_000),
    });
    if (!answer.ok) throw new Error(`GET /clicks returned status ${answer.status}`);
    return (await answer.json()) as Page;
  }

  /** Reads every page after `since`; only a complete read advances it. */
  async function poll(): Promise<void> {
    const first = await page(null);
    // Watermarks have one format and length, so they compare as text.
    if (first.watermark < newest) regressions.push(`${first.watermark} after ${newest}`);
    else newest = first.watermark;
    for (let at = first; ; at = await page(at.next_cursor)) {
      for (const { visitor_id } of at.clicks) if (!seen.has(visitor_id)) seen.set(visitor_id, Date.now());
      if (at.next_cursor === null) break;
    }
    since = first.watermark;
    polls += 1;
  }

  async function run(): Promise<void> {
    while (!stopped) {
      await poll().catch(() => {
        failures += 1;
      });
      await delay(PAUSE_MS);
    }
  }

  const running = run();
  return {
    seen,
    regressions,
    watermark: () => Date.parse(newest) || 0,
    polls: () => polls,
    failures: () => failures,
    stop() {
      stopped = true;
      return running;
    },
  };
}
