import { AppError } from '../../core/errors.ts';
import type { Api, ApiDeps, FastifyRequest } from '../dependencies.ts';
import { readingPointBeside } from '../reading-point.ts';

/** Concurrent reads of clicks by one workspace: half of the process's connections to ClickHouse. */
const AT_A_TIME = 8;
/**
 * Concurrent reads of a workspace's clicks with its publishable keys. Strangers have those keys, so this limit is
 * separate from the workspace's own. Together with shared dashboards it is less than the process's 16 connections.
 */
const STRANGERS_AT_A_TIME = 3;
/** Longest wait for a slot. Milliseconds. */
const LONGEST_WAIT = 5_000;

export type ReportLimit = {
  /**
   * Takes a slot of the workspace, in order of arrival.
   *
   * @returns a function that releases it; further calls do nothing
   * @throws {AppError} `unavailable` when no slot became free in time
   */
  take(workspaceId: string): Promise<() => void>;
};

declare module 'fastify' {
  interface FastifyInstance {
    reportLimit: ReportLimit;
    /** Limit of calls with a publishable key. */
    strangerLimit: ReportLimit;
  }
}

/** Limits concurrent reads of clicks by workspace, so that many reports of one do not delay those of others. */
export function createReportLimit(atATime = AT_A_TIME, longestWait = LONGEST_WAIT): ReportLimit {
  const places = new Map<string, { taken: number; waiting: Set<() => void> }>();

  return {
    async take(workspaceId) {
      const place = places.get(workspaceId) ?? { taken: 0, waiting: new Set() };
      places.set(workspaceId, place);
      if (place.taken < atATime) place.taken += 1;
      else await untilPassedOn(place.waiting, longestWait);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        const [next] = place.waiting;
        if (next) {
          place.waiting.delete(next);
          next();
          return;
        }
        place.taken -= 1;
        if (place.taken === 0) places.delete(workspaceId);
      };
    },
  };
}

function untilPassedOn(waiting: Set<() => void>, longestWait: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.delete(begin);
      reject(new AppError('unavailable', 'the workspace is at its limit of concurrent reports; try again'));
    }, longestWait);
    waiting.add(begin);
  });
}

/**
 * Applies the limit to routes with `readsClicks`, until their response is ready. Exports and live streams have limits
 * of their own after that. For these routes the query of a request's key also reads the reading point, for
 * `readingPointOf`.
 */
export function addReportLimit(app: Api, deps: Pick<ApiDeps, 'readers'>): void {
  app.decorate('reportLimit', createReportLimit());
  app.decorate('strangerLimit', createReportLimit(STRANGERS_AT_A_TIME));
  const held = new WeakMap<FastifyRequest, () => void>();
  app.addHook('onRoute', ({ config }) => {
    if (config?.readsClicks) config.besideKey = readingPointBeside(deps);
  });
  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.readsClicks === undefined) return;
    const { key, workspace } = request.auth;
    const limit = key.kind === 'publishable' ? app.strangerLimit : app.reportLimit;
    const release = await limit.take(workspace.id);
    held.set(request, release);
    reply.raw.once('close', release);
    if (reply.raw.destroyed) release();
  });
  app.addHook('onSend', async (request) => held.get(request)?.());
}
