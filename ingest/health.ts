import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Loss } from '../core/event-log/port.ts';
import { lossBody, type Readiness } from '../core/tier/health.ts';
import { CLIENT_ADDRESS_HEADER } from '../core/tracking/client-address-header.ts';
import type { ClientAddresses } from './http/client-address.ts';
import type { Exchanges } from './http/exchange.ts';

/**
 * Sources of readiness. `loaded` and `shipping` decide it: a database that is down must not take redirects out of
 * service.
 */
export type HealthSources = {
  /** Whether links can be served, from disk or from PostgreSQL. */
  loaded(): boolean;
  /**
   * Whether clicks can leave this process: true without Kafka, else once the shipper's thread has started.
   */
  shipping(): boolean;
  draining(): boolean;
  links(): number;
  /** Seconds since the link table last equaled PostgreSQL; infinite before that. */
  tableAgeSeconds(): number;
  /** Seconds since PostgreSQL last responded. */
  silenceSeconds(): number;
  journalFill(): number;
  /** The loss of clicks under way. Redirects continue. */
  journalLoss(): Loss | null;
  trustsForwarded: ClientAddresses['trustsForwarded'];
};

/** Seconds without a response after which PostgreSQL counts as down. */
const DOWN_AFTER = 5;

/**
 * Handles `/health/live` and `/health/ready`, which anyone may call: they tell a status and no more. `readiness` has
 * the details, for the metrics port.
 */
export function createHealth(
  sources: HealthSources,
  exchanges: Exchanges,
): {
  live(res: HttpResponse, req: HttpRequest, head: boolean): void;
  ready(res: HttpResponse, head: boolean): void;
  readiness(): Readiness;
} {
  function respond(
    res: HttpResponse,
    head: boolean,
    status: string,
    body: object,
    headers: [string, string][] = [],
  ): void {
    exchanges.reply(
      exchanges.open(res, head),
      status,
      [['Content-Type', 'application/json; charset=utf-8'], ['Cache-Control', 'no-store'], ...headers],
      JSON.stringify(body),
    );
  }

  function readiness() {
    const shipping = sources.shipping();
    const ready = sources.loaded() && shipping && !sources.draining();
    const age = sources.tableAgeSeconds();
    const loss = sources.journalLoss();
    const status = !ready ? (sources.draining() ? 'draining' : 'loading') : loss ? 'degraded' : 'ready';
    return {
      ready,
      body: {
        status,
        postgres: sources.silenceSeconds() < DOWN_AFTER ? 'up' : 'down',
        link_table: { slugs: sources.links(), age_seconds: Number.isFinite(age) ? age : null },
        journal: { fill: sources.journalFill() },
        ...(!shipping && { shipper: 'not started' }),
        ...lossBody(loss),
      },
    };
  }

  return {
    readiness,
    live(res, req, head) {
      const trusted = sources.trustsForwarded(req, res);
      const headers: [string, string][] =
        trusted === null ? [] : [[CLIENT_ADDRESS_HEADER, trusted ? 'forwarded' : 'peer-untrusted']];
      respond(res, head, '200 OK', { status: 'ok' }, headers);
    },
    ready(res, head) {
      const { ready, body } = readiness();
      respond(res, head, ready ? '200 OK' : '503 Service Unavailable', { status: body.status });
    },
  };
}
