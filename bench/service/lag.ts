import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '../../sql/database/pool.ts';
import { watermark } from '../../sql/event-log/streams.ts';

const LOOK_EVERY_MS = 100;
const PATIENCE_MS = 300_000;

/**
 * Waits until every click before `moment` (milliseconds since the epoch) is visible.
 *
 * @throws Error after five minutes
 */
export async function untilVisible(pool: Pool, moment: number): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await delay(LOOK_EVERY_MS)) {
    if (((await watermark(pool)) ?? 0) / 1_000 > moment) return;
  }
  throw new Error('clicks are not visible after five minutes');
}
