import { linkSignals } from '../../core/tier/linked-signal.ts';
import type { Logger } from '../../core/tier/log.ts';
import { createGuardedClient } from '../../core/webhooks/guarded-client.ts';
import { createHostResolver, RefusedAddress } from '../../core/webhooks/resolve-host.ts';
import type { Pool } from '../../sql/database/pool.ts';
import {
  claimDestinations,
  type DueDestination,
  queueDestinations,
  settleDestination,
  workspacesWithChecks,
} from '../../sql/links/destination-checks.ts';
import { type Job, type JobOptions, startJob } from '../jobs/job.ts';
import type { DestinationOptions } from './destination-pages.ts';
import { fetchUrl } from './fetch-url.ts';

type DestinationChecks = {
  /** One run. @param now milliseconds since the epoch @returns whether more may be due */
  run(now?: number): Promise<boolean>;
  /** Ends the requests under way, which another worker repeats. */
  close(): void;
};

const HOUR = 3_600_000;
const QUEUE_EVERY_MS = 600_000;
const LOOK_EVERY_MS = 15_000;
const CHUNK = 4;
/** One request with its redirects. Shorter than the claim. */
const LIMIT_MS = 15_000;
const LEASE_MS = 60_000;
/** Longest text of an error. */
const MOST_ERROR = 200;

/**
 * Creates the check of destinations: each is requested once a day. One that fails is requested again after an hour,
 * because its server may have been restarting, and then every six hours, so that its return is soon known.
 */
export function createDestinationChecks(dependencies: {
  pool: Pool;
  log: Pick<Logger, 'info'>;
  options: DestinationOptions;
}): DestinationChecks {
  const { pool, log, options } = dependencies;
  const { allowPrivate, resolve = createHostResolver(), limitMs = LIMIT_MS } = options;
  const client = createGuardedClient({ resolve, allowPrivate });
  const end = new AbortController();
  let queueAt = 0;

  async function check(due: DueDestination, now: number): Promise<void> {
    // A macro has no value without a visitor.
    const url = due.url.replaceAll(/\{\w+\}|%7B\w+%7D/gi, '');
    const request = { accept: 'text/html,*/*;q=0.1', limit: 1, purpose: 'daily check of links' };
    const { signal, release } = linkSignals(end.signal, AbortSignal.timeout(limitMs));
    const error = await fetchUrl(client, url, request, signal)
      .then(
        ({ status }) => (isFailure(status) ? String(status) : null),
        (cause: unknown) => errorText(cause, limitMs),
      )
      .finally(release);
    if (end.signal.aborted) return;
    const wait = error === null ? 24 * HOUR : due.failures === 0 ? HOUR : 6 * HOUR;
    await settleDestination(pool, due, { error, now, dueAt: now + wait });
    if (error !== null) log.info({ workspace: due.workspaceId, url, error }, 'a destination fails');
  }

  return {
    async run(now = Date.now()) {
      if (now >= queueAt) {
        for (const id of await workspacesWithChecks(pool)) await queueDestinations(pool, id);
        queueAt = now + QUEUE_EVERY_MS;
      }
      const due = await claimDestinations(pool, now, LEASE_MS, CHUNK);
      await Promise.all(due.map((one) => check(one, now)));
      return due.length === CHUNK;
    },
    close() {
      end.abort();
      client.close();
    },
  };
}

/** Starts the job of {@link createDestinationChecks}. */
export function startDestinationChecks(
  dependencies: Parameters<typeof createDestinationChecks>[0] & Pick<JobOptions, 'log' | 'metrics'>,
): Pick<Job, 'stop'> {
  const checks = createDestinationChecks(dependencies);
  const job = startJob({
    ...dependencies,
    name: 'destination_checks',
    everyMs: LOOK_EVERY_MS,
    work: () => checks.run(),
  });
  return {
    async stop() {
      checks.close();
      await job.stop();
    },
  };
}

/** Many sites refuse programs with 401, 403, 405, or 429, and show visitors their page. */
const isFailure = (status: number): boolean => status === 404 || status === 410 || status >= 500;

/** Returns why a destination did not respond. Null: this service may not request it, which says nothing of visitors. */
function errorText(error: unknown, limitMs: number): string | null {
  if (!(error instanceof Error)) return 'no response';
  if (error instanceof RefusedAddress || error.cause instanceof RefusedAddress) return null;
  if (error.name === 'TimeoutError') return `no response within ${limitMs / 1_000} s`;
  const { code } = error as { code?: unknown };
  return (typeof code === 'string' ? code : error.message).slice(0, MOST_ERROR) || 'no response';
}
