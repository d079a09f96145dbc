import { Gauge, type Registry } from 'prom-client';
import type { Pool } from '../sql/database/pool.ts';
import { watermark } from '../sql/event-log/streams.ts';

/** A scrape does not wait longer for PostgreSQL. Milliseconds. */
const ANSWER_MS = 2_000;

/**
 * Exposes the age of the watermark, which pollers of the click stream wait for. A stream whose process is dead holds the watermark
 * while lanes are up to date, so it is not the lag of a lane. While PostgreSQL is down the age grows from the last known
 * watermark. 0 before the first stream.
 *
 * @returns once the watermark was read, so that the age is known when PostgreSQL goes down before the first scrape
 */
export async function exposeWatermarkAge(pool: Pool, registry: Registry): Promise<void> {
  let micros: number | null = null;

  async function look(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, ANSWER_MS, null);
    });
    const answer = watermark(pool).catch(() => null);
    micros = (await Promise.race([answer, limit])) ?? micros;
    clearTimeout(timer);
  }

  new Gauge({
    name: 'hoplog_watermark_age_seconds',
    help: 'Age of the watermark; every click older than the watermark is visible.',
    registers: [registry],
    async collect() {
      await look();
      this.set(micros === null ? 0 : Math.max(0, Date.now() / 1_000 - micros / 1_000_000));
    },
  });
  await look();
}
