import { errorEnvelope, errorPageOf } from '../../core/error-envelope.ts';
import { AppError } from '../../core/errors.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Config } from '../../core/settings/config.ts';
import type { Exchange, Exchanges, Headers } from '../http/exchange.ts';
import type { IngestMetrics } from '../metrics.ts';
import type { VisitorPages } from '../pages/pages.ts';
import type { Visit } from './visit.ts';

/** First segment of the API's paths; no link can have it as its slug. */
const API = 'api';

/** Responses at addresses of the deployment's own host that name nothing. */
export type OwnHost = {
  respond(visit: Pick<Visit, 'slug' | 'path' | 'acceptLanguage'>, exchange: Exchange): void;
  /** Responds to a call of the API that came to this host. */
  refuseApiCall(exchange: Exchange): void;
};

export function createOwnHost(given: {
  exchanges: Exchanges;
  metrics: IngestMetrics;
  pages: VisitorPages;
  config: Pick<Config, 'rootUrl' | 'notFoundUrl' | 'baseUrl'>;
}): OwnHost {
  const { exchanges, metrics, pages, config } = given;
  const { rootUrl, notFoundUrl, baseUrl } = config;

  function refuseApiCall(exchange: Exchange): void {
    metrics.countOutcome('not_found');
    const requestId = uuidv7();
    const message = `this host redirects short links; the API is at ${baseUrl}/api/v1`;
    const headers: Headers = [
      ['Content-Type', 'application/json; charset=utf-8'],
      ['Access-Control-Allow-Origin', '*'],
      ['x-request-id', requestId],
    ];
    const body = errorEnvelope(new AppError('not_found', message), requestId, errorPageOf(config));
    exchanges.reply(exchange, '404 Not Found', headers, JSON.stringify(body));
  }

  return {
    refuseApiCall,
    respond(visit, exchange) {
      const { slug, path } = visit;
      const isRoot = slug === '' && path === '';
      const url = isRoot ? rootUrl : notFoundUrl;
      if (slug === API) {
        refuseApiCall(exchange);
      } else if (url !== '') {
        metrics.countOutcome('redirected');
        exchanges.redirect(exchange, url, [null]);
      } else if (isRoot) {
        metrics.countOutcome('page');
        const { headers, body } = pages.of(visit, null).root;
        exchanges.reply(exchange, '200 OK', headers, body);
      } else {
        metrics.countOutcome('not_found');
        const { headers, body } = pages.of(visit, null).notFound;
        exchanges.reply(exchange, '404 Not Found', headers, body);
      }
    },
  };
}
