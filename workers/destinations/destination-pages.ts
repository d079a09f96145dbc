import type { Logger } from '../../core/tier/log.ts';
import { createGuardedClient } from '../../core/webhooks/guarded-client.ts';
import { createHostResolver, type ResolveHost } from '../../core/webhooks/resolve-host.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { claimDuePages, type DuePage, storeDestinationPage } from '../../sql/links/destination-pages.ts';
import type { IdlePause } from '../idle-pause.ts';
import { type Job, startJob } from '../jobs/job.ts';
import type { Waiting } from '../jobs/waiting.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { fetchPage } from './fetch-page.ts';

export type DestinationOptions = {
  /** Fetch from private addresses too. */
  allowPrivate: boolean;
  /** For tests: other name servers. */
  resolve?: ResolveHost;
  /** For tests: limit of one fetch. Milliseconds. */
  limitMs?: number;
};

/** Members wait for icons, at most this long. */
const LOOK_EVERY_MS = 500;
/** Fetches of one run, which run together. */
const CHUNK = 8;
/** One fetch: the page, redirects, and icons. Shorter than the claim in PostgreSQL. */
const LIMIT_MS = 10_000;

/**
 * Starts the job that fetches titles and icons of destinations which the console has requested. A destination that
 * does not respond is tried again when it is requested a day later.
 */
export function startDestinationPages(dependencies: {
  pool: Pool;
  log: Logger;
  metrics: WorkerMetrics;
  pause: IdlePause;
  waits: Waiting;
  options: DestinationOptions;
}): Pick<Job, 'stop'> {
  const { pool, log, waits, pause, options } = dependencies;
  const { allowPrivate, resolve = createHostResolver(), limitMs = LIMIT_MS } = options;
  const client = createGuardedClient({ resolve, allowPrivate });
  const end = new AbortController();

  async function fetchAndStore(due: DuePage): Promise<void> {
    const cut = new AbortController();
    const abort = () => cut.abort(end.signal.reason);
    const timer = setTimeout(() => cut.abort(new Error(`no response within ${limitMs / 1_000} s`)), limitMs);
    end.signal.addEventListener('abort', abort, { once: true });
    try {
      // A macro has no value without a visitor.
      const url = due.url.replaceAll(/\{\w+\}|%7B\w+%7D/gi, '');
      const found = await fetchPage(client, url, cut.signal).catch((error: unknown) => {
        log.debug({ url, err: error }, 'failed to fetch a destination; its title stays as it was');
        return null;
      });
      // The next worker fetches it: this one is ending.
      if (!end.signal.aborted) await storeDestinationPage(pool, due, found);
    } finally {
      clearTimeout(timer);
      end.signal.removeEventListener('abort', abort);
    }
  }

  const job = startJob({
    ...dependencies,
    name: 'destination_pages',
    everyMs: () => pause.ms(LOOK_EVERY_MS),
    work: async () => {
      if (!(await waits('destinationPages'))) return false;
      const due = await claimDuePages(pool, CHUNK);
      await Promise.all(due.map(fetchAndStore));
      return due.length === CHUNK;
    },
  });
  return {
    async stop() {
      end.abort(new Error('the worker ends'));
      await job.stop();
      client.close();
    },
  };
}
