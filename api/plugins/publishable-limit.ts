import { Counter } from 'prom-client';
import { AppError } from '../../core/errors.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { countPublishableUse } from '../../sql/workspaces/publishable-uses.ts';
import type { Api, ApiDeps, Auth } from '../dependencies.ts';

/**
 * Counts a call that creates rows, when its key is publishable: once for any number of rows. Call it in the
 * transaction, after the row.
 *
 * @throws {AppError} `too_many_requests` beyond the workspace's limit an hour; the transaction must roll back
 */
export type CountPublishable = (tx: Queryable, auth: Auth) => Promise<void>;

declare module 'fastify' {
  interface FastifyInstance {
    countPublishable: CountPublishable;
  }
}

/** Adds `app.countPublishable`: anyone can read a publishable key on a page, and create rows with it. */
export function addPublishableLimit(
  app: Api,
  { config, registry }: Pick<ApiDeps, 'config' | 'registry'>,
): void {
  const refused = new Counter({
    name: 'hoplog_api_publishable_refused_total',
    help: 'Calls with a publishable key that a workspace had no room for in this hour.',
    registers: [registry],
  });
  const counted = new WeakSet<Auth>();
  app.decorate('countPublishable', async (tx, auth) => {
    const { key, workspace } = auth;
    if (key.kind !== 'publishable' || counted.has(auth)) return;
    counted.add(auth);
    const wait = await countPublishableUse(tx, workspace.id, config.publishableLimitPerHour);
    if (wait === 0) return;
    refused.inc();
    throw new AppError(
      'too_many_requests',
      `publishable keys may make at most ${config.publishableLimitPerHour} enrollments, signups and changes an hour in a workspace`,
      undefined,
      { retryAfter: wait },
    );
  });
}
