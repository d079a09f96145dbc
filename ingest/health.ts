import type { HttpResponse } from 'uWebSockets.js';
import type { Exchanges } from './http/exchange.ts';

/** What readiness reports. `loaded` and `shipping` decide it: a store that is down must not take redirects away. */
export type HealthSources = {
  /** Whether links can be answered: from disk or from PostgreSQL, once either is in memory. */
  loaded(): boolean;
  /** Whether clicks can leave this process: true without Kafka, else once the shipper's thread has started. */
  shipping(): boolean;
  draining(): boolean;
  links(): number;
  /** Seconds since the link table was last known to be what PostgreSQL says; infinite before that. */
  tableAgeSeconds(): number;
  /** Seconds since PostgreSQL last said what changed. */
  silenceSeconds(): number;
  journalFill(): number;
};

/** PostgreSQL counts as down when it has said nothing for so long, in seconds. */
const DOWN_AFTER = 5;

/** `/health/live` and `/health/ready`. */
export function createHealth(
  sources: HealthSources,
  exchanges: Exchanges,
): { live(res: HttpResponse, head: boolean): void; ready(res: HttpResponse, head: boolean): void } {
  function answer(res: HttpResponse, head: boolean, status: string, body: object): void {
    exchanges.reply(
      exchanges.open(res, head),
      status,
      [
        ['Content-Type', 'application/json; charset=utf-8'],
        ['Cache-Control', 'no-store'],
      ],
      JSON.stringify(body),
    );
  }

  return {
    live: (res, head) => answer(res, head, '200 OK', { status: 'ok' }),
    ready(res, head) {
      const shipping = sources.shipping();
      const ready = sources.loaded() && shipping && !sources.draining();
      const age = sources.tableAgeSeconds();
      answer(res, head, ready ? '200 OK' : '503 Service Unavailable', {
        status: ready ? 'ready' : sources.draining() ? 'draining' : 'loading',
        postgres: sources.silenceSeconds() < DOWN_AFTER ? 'up' : 'down',
        link_table: { slugs: sources.links(), age_seconds: Number.isFinite(age) ? age : null },
        journal: { fill: sources.journalFill() },
        ...(!shipping && { shipper: 'not started' }),
      });
    },
  };
}
