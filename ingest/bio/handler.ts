import type { PublicPage } from '../../core/bio/public-page.ts';
import { type Origins, type RenderedBioPage, renderBioPage } from '../../core/bio/render.ts';
import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { BlockedDomains } from '../../core/links/blocked-domains.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import type { OtherRecord } from '../link-table/records.ts';
import type { IngestMetrics } from '../metrics.ts';
import { type Page, VARIES_BY_LANGUAGE } from '../pages/layout.ts';
import type { VisitorPages } from '../pages/pages.ts';
import type { Visit } from '../redirect/visit.ts';

/** Rendered pages, 20 KB each, 300 KB at most. */
const CAPACITY = 512;

/** Serves bio pages. A page is rendered once for each content, so a change needs no invalidation. */
export function createBioPageHandler(given: {
  exchanges: Exchanges;
  metrics: IngestMetrics;
  pages: VisitorPages;
  origins: Origins;
  domains: BlockedDomains;
}): (record: OtherRecord, visit: Pick<Visit, 'acceptLanguage'>, exchange: Exchange) => void {
  const { exchanges, metrics, pages, origins, domains } = given;
  const rendered = createBoundedCache<string, { content: string; page: Page | null }>(CAPACITY);

  domains.listen(() => rendered.clear());

  /** Returns the page, or null when it leads to a blocked domain. */
  function pageOf({ name: slug, content, workspaceId }: OtherRecord, visit: Pick<Visit, 'acceptLanguage'>) {
    const ofWorkspace = pages.chosenBy(workspaceId);
    const ofVisitor = pages.languageOf(visit, workspaceId);
    const key = `${slug} ${ofVisitor}${ofWorkspace === null ? '' : ' of workspace'}`;
    const known = rendered.get(key);
    if (known?.content === content) return known.page;
    const parsed = JSON.parse(content) as PublicPage;
    const isBlocked = urlsOf(parsed).some((url) => domains.blocks(url));
    const chosen = parsed.language ?? ofWorkspace;
    const page = isBlocked ? null : pageFrom(renderBioPage(slug, parsed, origins, { chosen, ofVisitor }));
    rendered.set(key, { content, page });
    return page;
  }

  return (record, visit, exchange) => {
    const { notFound, blocked } = pages.of(visit, record.workspaceId);
    if (record.content === '') {
      metrics.countOutcome('not_found');
      exchanges.reply(exchange, '404 Not Found', notFound.headers, notFound.body);
      return;
    }
    const page = pageOf(record, visit);
    if (page === null) {
      metrics.countOutcome('blocked');
      exchanges.reply(exchange, '410 Gone', blocked.headers, blocked.body);
      return;
    }
    const { headers, body } = page;
    metrics.countOutcome('page');
    exchanges.reply(exchange, '200 OK', headers, body);
  };
}

function urlsOf({ buttons, social_links }: PublicPage): string[] {
  return [...buttons.flatMap(({ url }) => url ?? []), ...social_links.map(({ url }) => url)];
}

function pageFrom({ html, policy }: RenderedBioPage): Page {
  return {
    headers: [
      ['Content-Type', 'text/html; charset=utf-8'],
      // Revalidated each time, so that a change shows at once.
      ['Cache-Control', 'public, max-age=0, must-revalidate'],
      VARIES_BY_LANGUAGE,
      ['Content-Security-Policy', policy],
      ['X-Content-Type-Options', 'nosniff'],
      ['Referrer-Policy', 'strict-origin-when-cross-origin'],
    ],
    body: Buffer.from(html),
  };
}
