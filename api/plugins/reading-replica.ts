import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { marksOf } from '../../core/event-log/replica-marks.ts';
import type { ReadingPoint } from '../../sql/event-log/reading-points.ts';
import type { Api, ApiDeps, FastifyRequest } from '../dependencies.ts';
import { readingPointOf } from '../reading-point.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** On routes with `readsClicks`: the replica of ClickHouse that the request reads, and no other. */
    readonly clickhouse: ClickHouseClient;
  }
}

/**
 * Chooses the replica of ClickHouse that a request of a route with `readsClicks` reads, by its reading point and what
 * its reader was promised. When this replica fails, the handler runs once more for another one. So it changes nothing,
 * or only what a repeated request leaves as it is.
 */
export function addReadingReplica(app: Api, deps: Pick<ApiDeps, 'pool' | 'clickhouse' | 'readers'>): void {
  const { readers, clickhouse: first } = deps;
  const chosen = new WeakMap<FastifyRequest, ClickHouseClient>();
  app.decorateRequest('clickhouse', {
    getter(this: FastifyRequest) {
      return chosen.get(this) ?? first;
    },
  });
  if (!readers.isReplicated) return;
  // The handler of a GET comes again for its HEAD.
  const wrapped = new WeakSet<object>();
  app.addHook('onRoute', (route) => {
    const { handler, config } = route;
    if (!config?.readsClicks || wrapped.has(handler)) return;
    route.handler = async function replicated(request, reply) {
      const point = await readingPointOf(deps, request.auth);
      const { watermark, replicas = {} } = point;
      const start = {
        marks: marksOf({ watermark, replicas }),
        atLeast: config.promisedUpTo?.(request) ?? 0,
      };
      return readers.readFrom(start, async (source) => {
        chosen.set(request, source.clickhouse);
        const own: ReadingPoint = { ...point, watermark: source.watermark };
        request.auth.beside = own;
        return handler.call(this, request, reply);
      });
    };
    wrapped.add(route.handler);
  });
}
