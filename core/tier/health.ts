import type { Loss } from '../event-log/port.ts';

/** Whether a process accepts work, and the body of its health response. */
export type Readiness = { ready: boolean; body: object };

/** What a health response says about events that are being lost. */
export type LossBody = { losing?: { reason: string; since: string; events: number } };

/** Returns the part of a health response that tells of a loss of events; nothing without one. */
export function lossBody(loss: Loss | null): LossBody {
  if (loss === null) return {};
  return { losing: { ...loss, since: new Date(loss.since).toISOString() } };
}

/** Limit for a database's response. Milliseconds. */
const CHECK_LIMIT = 2_000;

/**
 * Returns which databases respond.
 *
 * @param checks a started check of each database, by its name
 */
export async function storesUp<Name extends string>(
  checks: Record<Name, Promise<unknown>>,
): Promise<{ up: boolean; stores: Record<Name, 'up' | 'down'> }> {
  const names = Object.keys(checks) as Name[];
  const results = await Promise.all(names.map(async (name) => [name, await responds(checks[name])] as const));
  return {
    up: results.every(([, up]) => up),
    stores: Object.fromEntries(results.map(([name, up]) => [name, up ? 'up' : 'down'])) as Record<
      Name,
      'up' | 'down'
    >,
  };
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
