import type { Loss } from '../event-log/port.ts';

/** Whether a process accepts work, and the body of its health response. */
export type Readiness = { ready: boolean; body: object };

/** The part of a health response that reports a loss of events. */
export type LossBody = { losing?: { reason: string; since: string; events: number } };

/** Returns the part of a health response that reports a loss of events; empty without one. */
export function lossBody(loss: Loss | null): LossBody {
  if (loss === null) return {};
  return { losing: { ...loss, since: new Date(loss.since).toISOString() } };
}

/** Limit for a database's response. Milliseconds. */
const CHECK_LIMIT = 2_000;

/** Which databases respond. */
export type StoreStates = { postgres: 'up' | 'down'; clickhouse: 'up' | 'down' };

/**
 * Returns which databases respond. A process is ready with PostgreSQL alone: without ClickHouse it is `degraded`,
 * because only reads and inserts of clicks wait for it.
 *
 * @param checks a started check of each database, with the process's credentials
 */
export async function storeStates(checks: Record<keyof StoreStates, Promise<unknown>>): Promise<StoreStates> {
  const [postgres, clickhouse] = await Promise.all([responds(checks.postgres), responds(checks.clickhouse)]);
  return { postgres: postgres ? 'up' : 'down', clickhouse: clickhouse ? 'up' : 'down' };
}

async function responds(check: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, CHECK_LIMIT, false);
  });
  const outcome = check.then(
    () => true,
    () => false,
  );
  return Promise.race([outcome, limit]).finally(() => clearTimeout(timer));
}
