import type { AgentKind } from '../../core/enrich/agent-kinds.ts';
import { inferChannel } from '../../core/enrich/infer-channel.ts';
import type { EventLogWriter } from '../../core/event-log/port.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import {
  clearedVisitorCookie,
  hasVisitorCookie,
  parseVisitorCookie,
  visitorCookie,
} from '../../core/tracking/visitors.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import type { IngestMetrics } from '../metrics.ts';
import type { Interstitial } from '../retargeting/interstitial.ts';
import type { CompiledLink } from './compiled-link.ts';
import type { Visit } from './visit.ts';

/** A visit that nothing stands in the way of any more. */
export type AllowedVisit = {
  link: CompiledLink;
  visit: Visit;
  agent: AgentKind;
  exchange: Exchange;
  /** It used one of the link's `max_clicks`. */
  counted: boolean;
  /** Another cookie to set: the one that opens a link with a password. */
  cookie: string | null;
};

/** Records the click and, when it has been written, sends the visitor on. */
export type RecordAndRedirect = (visit: AllowedVisit) => void;

export function createRecordAndRedirect(given: {
  eventLog: EventLogWriter;
  exchanges: Exchanges;
  metrics: IngestMetrics;
  interstitial: Interstitial;
  /** Whether the short-link origin is https. */
  secure: boolean;
  /** Answers 503 and gives the credit back: a link with `max_clicks` whose click can't be kept lets nobody through. */
  refuse(link: CompiledLink, exchange: Exchange): void;
}): RecordAndRedirect {
  const { eventLog, exchanges, metrics, interstitial, secure, refuse } = given;

  return (passed) => {
    const { link, visit, agent, exchange, counted } = passed;
    const bot = agent.bot || visit.flags !== 0;
    const kept = visit.gpc ? null : parseVisitorCookie(visit.cookie);
    const visitor = kept === null ? link.visitors.newVisitor() : knownVisitor(link, kept);
    const setCookie = bot ? null : cookieHeader(visit, visitor.cookieText);
    const channel = link.channel ?? inferChannel(visit.referer, visit.userAgent);
    const url = link.destinationFor(agent.device, channel).urlFor(visit.query, visitor.idText);

    eventLog.append(
      {
        kind: 'click',
        workspaceId: link.visitors.workspaceId,
        linkId: link.id,
        visitorId: visitor.id,
        channel,
        referer: visit.referer,
        userAgent: visit.userAgent,
        address: visit.address,
        flags: counted ? visit.flags | CLICK_FLAGS.counted : visit.flags,
      },
      (outcome) => {
        if (outcome === 'lost') {
          metrics.countLost('click');
          if (counted) return refuse(link, exchange);
        }
        answer(passed, url, setCookie);
      },
    );
  };

  /** @param fresh the visitor's new cookie, null when they keep theirs */
  function cookieHeader(visit: Visit, fresh: string | null): string | null {
    if (visit.gpc) return hasVisitorCookie(visit.cookie) ? clearedVisitorCookie(secure) : null;
    return fresh === null ? null : visitorCookie(fresh, secure);
  }

  function answer(passed: AllowedVisit, url: string, setCookie: string | null): void {
    const { link, visit, exchange } = passed;
    metrics.observeRedirect(visit.startedAt);
    const cookies = [setCookie, passed.cookie];
    // Pixels share the visit with others, which is what Global Privacy Control asks not to do.
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
    exchanges.redirect(exchange, url, cookies);
  }
}

const REFERRER_POLICY = ['Referrer-Policy', 'no-referrer-when-downgrade'] as const;

function knownVisitor(link: CompiledLink, cookie: Uint8Array) {
  const id = link.visitors.idOf(cookie);
  return { id, idText: bytesToUuid(id), cookieText: null };
}
