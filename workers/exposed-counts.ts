import { Gauge, type Registry } from 'prom-client';
import type { Pool } from '../sql/database/pool.ts';
import { lastComparisons } from '../sql/event-log/count-differences.ts';
import { describeDifferences } from './counts/differences.ts';

/** Exposes which streams and hours of a replica differ from the log, and when they were compared, at each scrape. */
export function exposeCounts(pool: Pool, registry: Registry): void {
  const registers = [registry];
  const age = new Gauge({
    name: 'hoplog_count_compared_age_seconds',
    help: 'Time since the clicks of a replica were last compared with the event log.',
    labelNames: ['replica'],
    registers,
  });
  new Gauge({
    name: 'hoplog_count_difference',
    help: 'Clicks that a replica lacks or has too many of, by stream and hour; 0 without labels when all are equal.',
    labelNames: ['replica', 'stream', 'hour'],
    registers,
    async collect() {
      const [differences, comparisons] = await Promise.all([
        describeDifferences(pool),
        lastComparisons(pool),
      ]).catch(() => [null, null]);
      // Without PostgreSQL nothing is known; its own alert fires.
      if (!differences || !comparisons) return;
      this.reset();
      age.reset();
      for (const { replica, comparedAt } of comparisons) {
        age.set({ replica }, Math.max(0, (Date.now() - comparedAt.getTime()) / 1_000));
        if (!differences.some((known) => known.replica === replica)) this.set({ replica }, 0);
      }
      for (const { replica, stream, hour, counted, stored } of differences) {
        // As many, but others: at least one is missing, and another one is there twice.
        this.set({ replica, stream, hour }, Math.max(1, Math.abs(stored - counted)));
      }
    },
  });
}
