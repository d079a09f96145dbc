import type { AgentKinds } from '../../core/enrich/agent-kinds.ts';
import { inferChannel } from '../../core/enrich/infer-channel.ts';
import { preferredLanguage } from '../../core/enrich/languages.ts';
import type { EventLogWriter } from '../../core/event-log/port.ts';
import { NO_LABELS } from '../../core/events/click-labels.ts';
import type { BlockedDomains } from '../../core/links/blocked-domains.ts';
import { SLUG_LIMIT } from '../../core/links/slugs.ts';
import type { VisitorIds } from '../../core/tracking/visitors.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import type { Host } from '../link-table/hosts.ts';
import type { WorkspacePolicies } from '../link-table/workspace-policies.ts';
import type { IngestMetrics } from '../metrics.ts';
import type { Page } from '../pages/layout.ts';
import type { VisitorPages } from '../pages/pages.ts';
import type { IdentifyVisitor } from '../visitors/identify.ts';
import { isHostFile, isScannedPath } from './machine-paths.ts';
import { adOf, flagsOf } from './record-and-redirect.ts';
import type { Visit } from './visit.ts';

/** Visits of a workspace's domain that name no link. */
export type DomainVisits = {
  /** Serves a file below `/.well-known/`. @returns whether the visit is of one */
  servedFile(host: Host, visit: Visit, exchange: Exchange): boolean;
  /**
   * Responds to a visit of `/` or of an unknown slug: redirects if the workspace configured it, else responds 404. The
   * visit is a click without a link (orphan), written before the response. A path that scanners request is no click,
   * and a file that only programs request is a 404 as well.
   */
  respondUnknown(host: Host, visit: Visit, exchange: Exchange): void;
};

const FILES = '.well-known';
/** Link id of an orphan click. */
const NO_LINK = new Uint8Array(16);

export function createDomainVisits(given: {
  eventLog: EventLogWriter;
  exchanges: Exchanges;
  metrics: IngestMetrics;
  pages: VisitorPages;
  policies: WorkspacePolicies;
  agentKinds: AgentKinds;
  visitorIds: VisitorIds;
  identify: IdentifyVisitor;
  domains: Pick<BlockedDomains, 'blocks'>;
}): DomainVisits {
  const { eventLog, exchanges, metrics, pages, policies, agentKinds, visitorIds, identify, domains } = given;

  function show(exchange: Exchange, status: string, page: Page, cookie: string | null = null): void {
    const setCookie = cookie === null ? [] : [['Set-Cookie', cookie] as const];
    exchanges.reply(exchange, status, [...page.headers, ...setCookie], page.body);
  }

  function respond(
    url: string | null,
    host: Host,
    visit: Visit,
    exchange: Exchange,
    cookie: string | null,
  ): void {
    if (url !== null && domains.blocks(url)) {
      metrics.countOutcome('blocked');
      show(exchange, '410 Gone', pages.of(visit, host.workspaceId).blocked, cookie);
    } else if (url !== null) {
      metrics.countOutcome('redirected');
      exchanges.redirect(exchange, new URL(url).href, [cookie]);
    } else {
      metrics.countOutcome('not_found');
      show(exchange, '404 Not Found', pages.of(visit, host.workspaceId).notFound, cookie);
    }
  }

  return {
    servedFile(host, visit, exchange) {
      const { slug, path } = visit;
      if (slug !== FILES) return false;
      const file =
        path === '/apple-app-site-association'
          ? host.appleAppSiteAssociation
          : path === '/assetlinks.json'
            ? host.assetlinks
            : null;
      if (file === null || policies.isSuspended(host.workspaceId)) {
        metrics.countOutcome('not_found');
        show(exchange, '404 Not Found', pages.of(visit, host.workspaceId).notFound);
      } else {
        metrics.countOutcome('page');
        const headers = [
          ['Content-Type', 'application/json'] as const,
          ['Cache-Control', 'no-cache'] as const,
        ];
        exchanges.reply(exchange, '200 OK', headers, file);
      }
      return true;
    },
    respondUnknown(host, visit, exchange) {
      if (policies.isSuspended(host.workspaceId)) {
        metrics.countOutcome('blocked');
        show(exchange, '410 Gone', pages.of(visit, host.workspaceId).blocked);
        return;
      }
      const path = visit.slug + visit.path;
      if (isHostFile(path)) return respond(null, host, visit, exchange, null);
      if (isScannedPath(path)) return respond(host.notFoundUrl, host, visit, exchange, null);
      const visitors = visitorIds.forWorkspace(host.workspaceId);
      const isBot = agentKinds(visit.userAgent).bot || visit.flags !== 0;
      const visitor = identify(visitors, visit, isBot);
      eventLog.append(
        {
          kind: 'click',
          workspaceId: visitors.workspaceId,
          linkId: NO_LINK,
          visitorId: visitor.id,
          labels: { ...NO_LABELS, domain: host.domain, slug: path.slice(0, SLUG_LIMIT) },
          channel: inferChannel(visit.referer, visit.userAgent),
          referer: visit.referer,
          userAgent: visit.userAgent,
          language: preferredLanguage(visit.acceptLanguage),
          address: visit.address,
          flags: flagsOf(visit, false),
          ad: adOf(visit, visitor),
        },
        (outcome) => {
          if (outcome === 'lost') metrics.countLost('click');
          const url = visit.slug === '' ? host.rootUrl : host.notFoundUrl;
          respond(url, host, visit, exchange, visitor.setCookie);
        },
      );
    },
  };
}
