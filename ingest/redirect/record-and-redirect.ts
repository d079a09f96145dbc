import type { AgentKind } from '../../core/enrich/agent-kinds.ts';
import { inferChannel } from '../../core/enrich/infer-channel.ts';
import type { EventLogWriter } from '../../core/event-log/port.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import type { Tracking } from '../../core/tracking/tracking.ts';
import {
  clearedVisitorCookie,
  hasVisitorCookie,
  parseVisitorCookie,
  visitorCookie,
} from '../../core/tracking/visitors.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import type { WorkspacePolicies } from '../link-table/workspace-policies.ts';
import type { IngestMetrics } from '../metrics.ts';
import type { Interstitial } from '../retargeting/interstitial.ts';
import type { DailyVisitors } from '../visitors/daily-salts.ts';
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
  policies: WorkspacePolicies;
  dailyVisitors: DailyVisitors;
  decidingVisits: DecidingVisits;
  /** Whether the short-link origin is https. */
  secure: boolean;
  /** Responds 503 and puts the permit back: a click of a link with `max_clicks` must be recorded. */
  refuse(link: CompiledLink, exchange: Exchange): void;
}): RecordAndRedirect {
  const { eventLog, exchanges, metrics, interstitial, policies } = given;
  const { dailyVisitors, decidingVisits, secure, refuse } = given;

  return (allowed) => {
    const { link, visit, agent, exchange, counted } = allowed;
    const bot = agent.bot || visit.flags !== 0;
    const tracking = policies.trackingOf(link.workspaceId);
    const visitor = visitorOf(link, visit, tracking);
    const setCookie = bot || tracking !== 'full' ? null : cookieHeader(visit, visitor.cookieText);
    const channel = link.channel ?? inferChannel(visit.referer, visit.userAgent);
    const deciding = link.decides ? decidingVisit(visit, channel, visitor, tracking) : null;
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
        language: visit.language,
        address: visit.address,
        flags: flagsOf(visit, counted),
      },
      (outcome) => {
        if (outcome === 'lost') {
          metrics.countLost('click');
          if (counted) return refuse(link, exchange);
        }
        respond(allowed, url, setCookie);
      },
    );
  };

  function visitorOf(link: CompiledLink, visit: Visit, tracking: Tracking): Visitor {
    if (tracking === 'cookieless') {
      const id = dailyVisitors.visitorOf(link.workspaceId, visit.address, visit.userAgent);
      return { id, idText: null, cookieText: null };
    }
    const cookie = visit.gpc || tracking === 'none' ? null : parseVisitorCookie(visit.cookie);
    const visitor = cookie === null ? link.visitors.newVisitor() : knownVisitor(link, cookie);
    return tracking === 'none' ? { ...visitor, idText: null } : visitor;
  }

  /** Without cookies every visitor is new. */
  function decidingVisit(visit: Visit, channel: string, { id, cookieText }: Visitor, tracking: Tracking) {
    const isKnown = cookieText === null && tracking === 'full';
    return decidingVisits(visit, { channel, visitorId: id, visitor: isKnown ? 'returning' : 'new' });
  }

  /** @param fresh a new visitor's cookie; null when the visitor has one */
  function cookieHeader(visit: Visit, fresh: string | null): string | null {
    if (visit.gpc) return hasVisitorCookie(visit.cookie) ? clearedVisitorCookie(secure) : null;
    return fresh === null ? null : visitorCookie(fresh, secure);
  }

  function respond(allowed: AllowedVisit, url: string, setCookie: string | null): void {
    const { link, visit, exchange } = allowed;
    metrics.observeRedirect(visit.startedAt);
    const cookies = [setCookie, allowed.cookie];
    // Pixels share the visit with third parties, which Global Privacy Control opts out of.
    if (link.retargeting !== null && !visit.gpc) {
      metrics.countOutcome('interstitial');
      const { headers, body } = interstitial(link.retargeting, url);
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

/** `idText`: the `_vid` of the destination; null: none. `cookieText`: of a new visitor; null: none. */
type Visitor = { id: Uint8Array; idText: string | null; cookieText: string | null };

const REFERRER_POLICY = ['Referrer-Policy', 'no-referrer-when-downgrade'] as const;

function flagsOf(visit: Visit, counted: boolean): number {
  const fromQrCode = visit.query !== '' && isFromQrCode(visit.query);
  return visit.flags | (counted ? CLICK_FLAGS.counted : 0) | (fromQrCode ? CLICK_FLAGS.qr : 0);
}

function knownVisitor(link: CompiledLink, cookie: Uint8Array): Visitor {
  const id = link.visitors.idOf(cookie);
  return { id, idText: bytesToUuid(id), cookieText: null };
}
