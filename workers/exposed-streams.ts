import { Gauge, type Registry } from 'prom-client';
import type { Pool } from '../sql/database/pool.ts';
import { listStreams, ORDINALS } from '../sql/event-log/streams.ts';

/** Age of a stream's newest visible event from which on it is named. */
const BEHIND_SECONDS = 60;

/** Exposes the streams that hold the watermark, by name and id, and how many ordinals are free, read at each scrape. */
export function exposeStreams(pool: Pool, registry: Registry): void {
  const registers = [registry];
  const free = new Gauge({
    name: 'hoplog_stream_ordinals_free',
    help: 'Streams that can still be registered.',
    registers,
  });
  new Gauge({
    name: 'hoplog_stream_behind_seconds',
    help: 'Age of the newest visible event of an active stream, where it is more than a minute.',
    labelNames: ['stream', 'stream_id'],
    registers,
    async collect() {
      const streams = await listStreams(pool).catch(() => null);
      // Without PostgreSQL nothing is known; its own alert fires.
      if (streams === null) return;
      this.reset();
      // One ordinal belongs to imported clicks.
      free.set(ORDINALS - 1 - streams.length);
      for (const { name, stream_id, state, visible_before } of streams) {
        const seconds = Date.now() / 1_000 - visible_before / 1_000_000;
        if (state === 'active' && seconds > BEHIND_SECONDS) this.set({ stream: name, stream_id }, seconds);
      }
    },
  });
}
