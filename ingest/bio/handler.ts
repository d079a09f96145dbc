import type { PublicPage } from '../../core/bio/public-page.ts';
import { type Origins, type RenderedBioPage, renderBioPage } from '../../core/bio/render.ts';
import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import type { OtherRecord } from '../link-table/records.ts';
import type { IngestMetrics } from '../metrics.ts';
import type { Page } from '../pages/layout.ts';
import type { Pages } from '../pages/pages.ts';

/** Rendered pages, 20 KB each, 300 KB at most. */
const CAPACITY = 512;

/** Serves bio pages. A page is rendered once for each content, so a change needs no invalidation. */
export function createBioPageHandler(given: {
  exchanges: Exchanges;
  metrics: IngestMetrics;
  pages: Pages;
  origins: Origins;
}): (record: OtherRecord, visit: unknown, exchange: Exchange) => void {
  const { exchanges, metrics, pages, origins } = given;
  const rendered = createBoundedCache<string, { content: string; page: Page }>(CAPACITY);

  function pageOf({ slug, content }: OtherRecord): Page {
    const known = rendered.get(slug);
    if (known?.content === content) return known.page;
    const page = pageFrom(renderBioPage(slug, JSON.parse(content) as PublicPage, origins));
    rendered.set(slug, { content, page });
    return page;
  }

  return (record, _visit, exchange) => {
    if (record.content === '') {
      metrics.countOutcome('not_found');
      exchanges.reply(exchange, '404 Not Found', pages.notFound.headers, pages.notFound.body);
      return;
    }
    const { headers, body } = pageOf(record);
    metrics.countOutcome('page');
    exchanges.reply(exchange, '200 OK', headers, body);
  };
}

function pageFrom({ html, policy }: RenderedBioPage): Page {
  return {
    headers: [
      ['Content-Type', 'text/html; charset=utf-8'],
      // Revalidated each time, so that a change shows at once.
      ['Cache-Control', 'public, max-age=0, must-revalidate'],
      ['Content-Security-Policy', policy],
      ['X-Content-Type-Options', 'nosniff'],
      ['Referrer-Policy', 'strict-origin-when-cross-origin'],
    ],
    body: Buffer.from(html),
  };
}
