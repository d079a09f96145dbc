import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { IdleLanes } from './idle-lanes.ts';

/** Tells a lane how long to wait for more events before it inserts. */
export type Pace = {
  /** @param sinceLastMs time since the lane took the previous range with rows; infinite: there was none */
  lingerMs(sinceLastMs: number): number;
};

const LOOK_EVERY_MS = 5_000;

/** Each insert is one part: the more parts wait for merges, the longer the time from one insert to the next. */
const STEPS = [
  { parts: 250, intervalMs: 2_000 },
  { parts: 150, intervalMs: 1_000 },
  { parts: 80, intervalMs: 500 },
] as const;
/** An insert costs some 20 ms of CPU time in all processes, however many rows it has (`bench/notes.md`). */
const MIN_INTERVAL_MS = 240;
/** After a pause, when no insert was made for the interval. */
const MIN_LINGER_MS = 100;

/** Returns the time between inserts for this many parts in the fullest month, milliseconds. */
export function intervalFor(parts: number): number {
  return STEPS.find((step) => parts >= step.parts)?.intervalMs ?? MIN_INTERVAL_MS;
}

/** Returns the wait for more events, milliseconds. @param sinceLastMs time since the previous range with rows */
export function lingerFor(intervalMs: number, sinceLastMs: number): number {
  return Math.max(MIN_LINGER_MS, intervalMs - sinceLastMs);
}

/**
 * Watches the parts of table `clicks` until the signal ends: clicks are visible quickly while ClickHouse keeps up with
 * merges, and inserts get larger when it does not. While it is quiet nothing is inserted, and it does not look.
 */
export function createPace(dependencies: {
  clickhouse: ClickHouseClient;
  quiet: Pick<IdleLanes, 'isQuiet'>;
  log: Logger;
  signal: AbortSignal;
}): Pace {
  const { clickhouse, quiet, log, signal } = dependencies;
  let intervalMs = MIN_INTERVAL_MS;

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      try {
        if (!quiet.isQuiet()) intervalMs = intervalFor(await mostParts(clickhouse));
      } catch (error) {
        log.debug({ err: error }, 'failed to count the parts of clicks; keeping the pace');
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
  void watch();
  return { lingerMs: (sinceLastMs) => lingerFor(intervalMs, sinceLastMs) };
}

async function mostParts(clickhouse: ClickHouseClient): Promise<number> {
  const result = await clickhouse.query({
    query: `SELECT max(parts) AS parts FROM (
      SELECT count() AS parts FROM system.parts
      WHERE database = currentDatabase() AND table = 'clicks' AND active GROUP BY partition)`,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ parts: string }>();
  return Number(row?.parts ?? 0);
}
