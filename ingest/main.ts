import { startTier } from '../core/tier/start.ts';
import { openIngest } from './open.ts';

/** The process of the redirect tier. Everything else is in `open.ts`. */

/**
 * Longer than all waits of a close together; the longest are those for PostgreSQL and Kafka while they are down.
 * Shorter than the 10 s of `docker-compose.yml`. The supervisor of `npm start` waits 3 s.
 */
const CLOSE_LIMIT_MS = 8_000;

await startTier({
  name: 'ingest',
  requires: ['DATABASE_URL'],
  closeLimitMs: CLOSE_LIMIT_MS,
  async open({ config, log, registry, serveMetrics }) {
    const ingest = await openIngest({ config, log, registry });
    await serveMetrics(async () => ingest.readiness(), ingest.hasDomain);
    return { ready: { port: ingest.port }, close: () => ingest.close() };
  },
});
