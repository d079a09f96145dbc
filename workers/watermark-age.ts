import { Gauge, type Registry } from 'prom-client';
import type { Pool } from '../sql/database/pool.ts';
import { watermark } from '../sql/event-log/streams.ts';

/** A scrape does not wait longer for PostgreSQL. Milliseconds. */
const ANSWER_MS = 2_000;

/**
 * Exposes how old the watermark is: what a poller of the click stream waits for. Lanes can be up to date while a
 * stream whose process is dead holds it, so it is not the lag of any lane. While PostgreSQL does not answer it goes on
 * ageing from where it was seen last. 0 before the first stream.
 *
 * @returns asks at once, so that the age is known when PostgreSQL goes away before the first scrape
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
