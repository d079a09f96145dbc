import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { IdleLanes } from './idle-lanes.ts';

/** Tells a lane how long to wait for more events before it inserts. */
export type Pace = { lingerMs(): number };

const LOOK_EVERY_MS = 5_000;

/** Each insert is one part: the more parts wait for merges, the longer the wait. */
const STEPS = [
  { parts: 250, lingerMs: 2_000 },
  { parts: 150, lingerMs: 1_000 },
  { parts: 80, lingerMs: 500 },
  { parts: 40, lingerMs: 250 },
] as const;
const MIN_LINGER_MS = 100;

/** Returns the wait for this many parts in the fullest month, milliseconds. */
export function lingerFor(parts: number): number {
  return STEPS.find((step) => parts >= step.parts)?.lingerMs ?? MIN_LINGER_MS;
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
  let lingerMs = MIN_LINGER_MS;

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      try {
        if (!quiet.isQuiet()) lingerMs = lingerFor(await mostParts(clickhouse));
      } catch (error) {
        log.debug({ err: error }, 'failed to count the parts of clicks; keeping the pace');
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
  void watch();
  return { lingerMs: () => lingerMs };
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
