import type { AgentKinds } from '../../core/enrich/agent-kinds.ts';
import type { BlockedDomains } from '../../core/links/blocked-domains.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import type { Permits } from '../max-clicks/permits.ts';
import type { IngestMetrics } from '../metrics.ts';
import type { Page } from '../pages/layout.ts';
import type { VisitorPages } from '../pages/pages.ts';
import type { CompiledLink } from './compiled-link.ts';
import { type AllowedVisit, isBotVisit, type RecordAndRedirect } from './record-and-redirect.ts';
import type { Visit } from './visit.ts';

/**
 * Applies a link's policy to a visit, in this order: an expired or used-up link redirects elsewhere or says so; a
 * protected link shows its form; a link with `max_clicks` needs a permit; otherwise the visitor is redirected.
 */
export type LinkPolicy = {
  visit(link: CompiledLink, visit: Visit, exchange: Exchange): void;
  /** Responds when the link is expired or used up. @returns whether it was */
  respondedAsExpired(link: CompiledLink, visit: Visit, exchange: Exchange): boolean;
  /**
   * Continues after the password.
   *
   * @param cookie the cookie that skips the password next time; null when the visitor has it
   */
  pass(link: CompiledLink, visit: Visit, exchange: Exchange, cookie: string | null): void;
};

export function createLinkPolicy(given: {
  permits: Permits;
  exchanges: Exchanges;
  recordAndRedirect: RecordAndRedirect;
  metrics: IngestMetrics;
  pages: VisitorPages;
  agentKinds: AgentKinds;
  domains: Pick<BlockedDomains, 'blocks'>;
  /** Whether the visitor has already given the link's password. */
  mayPass(link: CompiledLink, cookieHeader: string): boolean;
}): LinkPolicy {
  const { permits, exchanges, recordAndRedirect, metrics, pages, agentKinds, domains, mayPass } = given;

  function show(exchange: Exchange, status: string, page: Page): void {
    exchanges.reply(exchange, status, page.headers, page.body);
  }

  function respondExpired(link: CompiledLink, visit: Visit, exchange: Exchange): void {
    const url = link.expiredRedirectUrl ?? visit.host?.expiredUrl ?? null;
    if (url !== null && domains.blocks(url)) {
      metrics.countOutcome('blocked');
      show(exchange, '410 Gone', pages.of(visit, link.workspaceId).blocked);
      return;
    }
    metrics.countOutcome('expired');
    if (url === null) show(exchange, '410 Gone', pages.of(visit, link.workspaceId).gone);
    else exchanges.redirect(exchange, new URL(url).href, []);
  }

  function respondNoLease(link: CompiledLink, visit: Visit, exchange: Exchange): void {
    metrics.countOutcome('no_lease');
    show(exchange, '503 Service Unavailable', pages.of(visit, link.workspaceId).unavailable);
  }

  function pass(link: CompiledLink, visit: Visit, exchange: Exchange, cookie: string | null): void {
    const agent = agentKinds(visit.userAgent);
    const allowed = { link, visit, agent, exchange, counted: false, cookie };
    if (link.maxClicks === null) recordAndRedirect(allowed);
    else passLimited(allowed, link.maxClicks);
  }

  function passLimited(allowed: AllowedVisit, maxClicks: number): void {
    const { link, visit, exchange } = allowed;
    const redirect = (counted: boolean) => recordAndRedirect({ ...allowed, counted });
    if (isBotVisit(allowed)) {
      // A machine gets the same response as visitors, but uses no permit.
      exchanges.after(exchange, permits.checkSpent(link.idText, maxClicks), (spent) => {
        if (spent) respondExpired(link, visit, exchange);
        else redirect(false);
      });
    } else {
      const taken = permits.take(link.idText, maxClicks);
      if (taken === 'taken') redirect(true);
      else if (taken === 'spent') respondExpired(link, visit, exchange);
      else waitForPermit(allowed, redirect);
    }
  }

  function waitForPermit(
    { link, visit, exchange }: AllowedVisit,
    redirect: (counted: boolean) => void,
  ): void {
    exchanges.after(exchange, permits.request(link.idText), (result) => {
      metrics.countLeaseWait(result);
      if (exchange.over) {
        if (result === 'taken') permits.release(link.idText);
      } else if (result === 'taken') redirect(true);
      else if (result === 'unlimited') redirect(false);
      else if (result === 'spent') respondExpired(link, visit, exchange);
      else respondNoLease(link, visit, exchange);
    });
  }

  function respondedAsExpired(link: CompiledLink, visit: Visit, exchange: Exchange): boolean {
    const over =
      (link.expiresAt !== null && Date.now() >= link.expiresAt) ||
      (link.maxClicks !== null && permits.isSpent(link.idText, link.maxClicks));
    if (over) respondExpired(link, visit, exchange);
    return over;
  }

  return {
    visit(link, visit, exchange) {
      if (respondedAsExpired(link, visit, exchange)) return;
      if (link.passwordHash !== null && !mayPass(link, visit.cookie)) {
        metrics.countOutcome('form');
        const { framedPasswordForm, passwordForm } = pages.of(visit, link.workspaceId);
        show(exchange, '200 OK', visit.isFramed ? framedPasswordForm : passwordForm(visit.referer));
      } else {
        pass(link, visit, exchange, null);
      }
    },
    respondedAsExpired,
    pass,
  };
}
