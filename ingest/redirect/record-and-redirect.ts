import type { AgentKind } from '../../core/enrich/agent-kinds.ts';
import { inferChannel } from '../../core/enrich/infer-channel.ts';
import { preferredLanguage } from '../../core/enrich/languages.ts';
import { isPreviewBot } from '../../core/enrich/preview-bots.ts';
import type { EventLogWriter } from '../../core/event-log/port.ts';
import { type AdClick, adClickIn } from '../../core/events/ad-clicks.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { shortUrlOf } from '../../core/links/short-urls.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import type { IngestMetrics } from '../metrics.ts';
import type { VisitorPages } from '../pages/pages.ts';
import { createPreviewPage } from '../pages/preview.ts';
import type { Interstitial } from '../retargeting/interstitial.ts';
import type { Identified, IdentifyVisitor } from '../visitors/identify.ts';
import type { CompiledLink } from './compiled-link.ts';
import type { DecidingVisits } from './deciding-visit.ts';
import { isFromQrCode } from './redirect-url.ts';
import type { Visit } from './visit.ts';

/** A visit that the link policy allows. */
export type AllowedVisit = {
  link: CompiledLink;
  visit: Visit;
  agent: AgentKind;
  exchange: Exchange;
  /** It used a permit of `max_clicks`. */
  counted: boolean;
  /** Another cookie to set, which opens a link with a password. */
  cookie: string | null;
};

/** Appends the click to the event log, then redirects the visitor once it is written. */
export type RecordAndRedirect = (visit: AllowedVisit) => void;

export function createRecordAndRedirect(given: {
  eventLog: EventLogWriter;
  exchanges: Exchanges;
  metrics: IngestMetrics;
  interstitial: Interstitial;
  pages: Pick<VisitorPages, 'languageOf'>;
  identify: IdentifyVisitor;
  decidingVisits: DecidingVisits;
  /** Origin of short links. */
  shortUrl: string;
  /** Responds 503 and puts the permit back: a click of a link with `max_clicks` must be recorded. */
  refuse(visit: AllowedVisit): void;
}): RecordAndRedirect {
  const { eventLog, exchanges, metrics, interstitial, pages, identify, decidingVisits, shortUrl, refuse } =
    given;

  return (allowed) => {
    const { link, visit, counted } = allowed;
    const bot = isBotVisit(allowed);
    const visitor = identify(link.visitors, visit, bot);
    const channel = link.channel ?? inferChannel(visit.referer, visit.userAgent);
    const deciding = link.decides ? decidingVisit(visit, channel, visitor) : null;
    const destination = link.destinationFor(deciding, channel);
    const url = destination.urlFor(visit.query, visitor.idText, visit.path);

    eventLog.append(
      {
        kind: 'click',
        workspaceId: link.visitors.workspaceId,
        linkId: link.id,
        visitorId: visitor.id,
        labels: destination.labelsFor(visit.query),
        channel,
        referer: visit.referer,
        userAgent: visit.userAgent,
        language: preferredLanguage(visit.acceptLanguage),
        address: visit.address,
        flags: flagsOf(visit, counted),
        ad: adOf(visit, visitor),
      },
      (outcome) => {
        if (outcome === 'lost') {
          metrics.countLost('click');
          if (counted) return refuse(allowed);
        }
        respond(allowed, url, visitor.setCookie);
      },
    );
  };

  function decidingVisit(visit: Visit, channel: string, { id, isReturning }: Identified) {
    return decidingVisits(visit, { channel, visitorId: id, visitor: isReturning ? 'returning' : 'new' });
  }

  function addressOf({ domain, slug }: CompiledLink): string {
    return shortUrlOf(shortUrl, { domain: domain === '' ? null : domain, slug });
  }

  function respond(allowed: AllowedVisit, url: string, setCookie: string | null): void {
    const { link, visit, exchange } = allowed;
    metrics.observeRedirect(visit.startedAt);
    if (link.preview !== null && allowed.agent.bot && isPreviewBot(visit.userAgent)) {
      metrics.countOutcome('preview');
      const language = pages.languageOf(visit, link.workspaceId);
      const { headers, body } = createPreviewPage(language, link.preview, addressOf(link) + visit.path, url);
      exchanges.reply(exchange, '200 OK', headers, body);
      return;
    }
    const cookies = [setCookie, allowed.cookie];
    // Pixels share the visit with third parties, which Global Privacy Control opts out of. A bot fires no pixel: it
    // gets the redirect, and reads the card of the destination.
    if (link.retargeting !== null && !visit.gpc && !isBotVisit(allowed)) {
      metrics.countOutcome('interstitial');
      const language = pages.languageOf(visit, link.workspaceId);
      const { headers, body } = interstitial(language, link.retargeting, url);
      const setCookies = cookies
        .filter((cookie) => cookie !== null)
        .map((cookie) => ['Set-Cookie', cookie] as const);
      exchanges.reply(exchange, '200 OK', [...headers, REFERRER_POLICY, ...setCookies], body);
      return;
    }
    metrics.countOutcome('redirected');
    // After the password form, 307 and 308 would send the password on.
    exchanges.redirect(exchange, url, cookies, allowed.cookie === null ? link.status : undefined);
  }
}

const REFERRER_POLICY = ['Referrer-Policy', 'no-referrer-when-downgrade'] as const;

/** Returns whether a visit is not a person's: a bot by its user agent, a `HEAD`, or a prefetch. */
export function isBotVisit({ agent, visit }: Pick<AllowedVisit, 'agent' | 'visit'>): boolean {
  return agent.bot || visit.flags !== 0;
}

/** Returns the flags of a click. @param counted it used a permit of `max_clicks` */
export function flagsOf(visit: Visit, counted: boolean): number {
  const fromQrCode = visit.query !== '' && isFromQrCode(visit.query);
  return visit.flags | (counted ? CLICK_FLAGS.counted : 0) | (fromQrCode ? CLICK_FLAGS.qr : 0);
}

/** Returns the id that an advertising network gave to a visit; null: none, or it must not be recorded. */
export function adOf({ query }: Visit, { isTracked }: Identified): AdClick | null {
  return isTracked ? adClickIn(query) : null;
}
