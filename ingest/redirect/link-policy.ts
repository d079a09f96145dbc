import type { AgentKinds } from '../../core/enrich/agent-kinds.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import type { Permits } from '../max-clicks/permits.ts';
import type { IngestMetrics } from '../metrics.ts';
import type { Page } from '../pages/layout.ts';
import type { Pages } from '../pages/pages.ts';
import type { CompiledLink } from './compiled-link.ts';
import type { AllowedVisit, RecordAndRedirect } from './record-and-redirect.ts';
import type { Visit } from './visit.ts';

/**
 * What a link does with a visitor. In this order: an expired or used-up link sends elsewhere or says so; a protected
 * one shows its form; one with `max_clicks` needs a credit; the rest is let through.
 */
export type LinkPolicy = {
  visit(link: CompiledLink, visit: Visit, exchange: Exchange): void;
  /** Whether the link is over: then it has been answered. */
  respondedAsExpired(link: CompiledLink, exchange: Exchange): boolean;
  /**
   * The rest of the way, for a visitor who may pass the password.
   *
   * @param cookie the cookie that will let them pass next time, null when they have one
   */
  pass(link: CompiledLink, visit: Visit, exchange: Exchange, cookie: string | null): void;
};

export function createLinkPolicy(given: {
  permits: Permits;
  exchanges: Exchanges;
  recordAndRedirect: RecordAndRedirect;
  metrics: IngestMetrics;
  pages: Pages;
  agentKinds: AgentKinds;
  /** Whether the visitor has given the link's password before. */
  mayPass(link: CompiledLink, cookieHeader: string): boolean;
}): LinkPolicy {
  const { permits, exchanges, recordAndRedirect, metrics, pages, agentKinds, mayPass } = given;

  function show(exchange: Exchange, status: string, page: Page): void {
    exchanges.reply(exchange, status, page.headers, page.body);
  }

  function respondExpired(link: CompiledLink, exchange: Exchange): void {
    metrics.countOutcome('expired');
    if (link.expiredRedirectUrl === null) {
      show(exchange, '410 Gone', pages.gone);
    } else {
      exchanges.redirect(exchange, new URL(link.expiredRedirectUrl).href, []);
    }
  }

  function respondNoLease(exchange: Exchange): void {
    metrics.countOutcome('no_lease');
    show(exchange, '503 Service Unavailable', pages.unavailable);
  }

  function pass(link: CompiledLink, visit: Visit, exchange: Exchange, cookie: string | null): void {
    const agent = agentKinds(visit.userAgent);
    const passing = { link, visit, agent, exchange, counted: false, cookie };
    if (link.maxClicks === null) recordAndRedirect(passing);
    else passLimited(passing, link.maxClicks);
  }

  function passLimited(passing: AllowedVisit, maxClicks: number): void {
    const { link, visit, agent, exchange } = passing;
    const through = (counted: boolean) => recordAndRedirect({ ...passing, counted });
    if (agent.bot || visit.flags !== 0) {
      // No person: the same answer as a visitor would get, without using a credit.
      exchanges.after(exchange, permits.checkSpent(link.idText, maxClicks), (spent) => {
        if (spent) respondExpired(link, exchange);
        else through(false);
      });
    } else {
      const taken = permits.take(link.idText, maxClicks);
      if (taken === 'taken') through(true);
      else if (taken === 'spent') respondExpired(link, exchange);
      else waitForPermit(link, exchange, through);
    }
  }

  function waitForPermit(link: CompiledLink, exchange: Exchange, through: (counted: boolean) => void): void {
    exchanges.after(exchange, permits.request(link.idText), (result) => {
      metrics.countLeaseWait(result);
      if (exchange.over) {
        if (result === 'taken') permits.release(link.idText);
      } else if (result === 'taken') through(true);
      else if (result === 'unlimited') through(false);
      else if (result === 'spent') respondExpired(link, exchange);
      else respondNoLease(exchange);
    });
  }

  function respondedAsExpired(link: CompiledLink, exchange: Exchange): boolean {
    const over =
      (link.expiresAt !== null && Date.now() >= link.expiresAt) ||
      (link.maxClicks !== null && permits.isSpent(link.idText, link.maxClicks));
    if (over) respondExpired(link, exchange);
    return over;
  }

  return {
    visit(link, visit, exchange) {
      if (respondedAsExpired(link, exchange)) return;
      if (link.passwordHash !== null && !mayPass(link, visit.cookie)) {
        metrics.countOutcome('form');
        show(exchange, '200 OK', pages.passwordForm(visit.referer));
      } else {
        pass(link, visit, exchange, null);
      }
    },
    respondedAsExpired,
    pass,
  };
}
