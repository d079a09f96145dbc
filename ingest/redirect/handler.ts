import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { isForwardable } from '../../core/links/forwardable-path.ts';
import { isKeptSlug } from '../../core/links/slugs.ts';
import { OWN_DOMAIN } from '../../sql/links/slugs.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { Exchange, Exchanges } from '../http/exchange.ts';
import { LookupUnavailable } from '../link-table/coalesced-queries.ts';
import type { Hosts } from '../link-table/hosts.ts';
import type { OtherRecord } from '../link-table/records.ts';
import type { Resolver } from '../link-table/resolver.ts';
import type { WorkspacePolicies } from '../link-table/workspace-policies.ts';
import type { IngestMetrics } from '../metrics.ts';
import type { VisitorPages } from '../pages/pages.ts';
import type { CompiledLink } from './compiled-link.ts';
import type { CompiledLinks, SlugTarget } from './compiled-links.ts';
import type { DomainVisits } from './domain-visits.ts';
import { longerAddresses } from './longer-addresses.ts';
import type { OwnHost } from './own-host.ts';
import { isTail, withoutTail } from './typed-address.ts';
import { atSlug, nameAt, readVisit, type Visit } from './visit.ts';

/** Responses for slugs that do not name a link. */
export type OtherKinds = Partial<
  Record<OtherRecord['kind'], (record: OtherRecord, visit: Visit, exchange: Exchange) => void>
>;

/** Handles `GET` and `HEAD` of `/<slug>`, and finds links for other handlers. */
export type RedirectHandler = {
  handle(res: HttpResponse, req: HttpRequest, head: boolean): void;
  /** Finds the link of a visit, or responds 404 or 503. */
  withLink(visit: Visit, exchange: Exchange, then: (link: CompiledLink) => void): void;
};

type Found = (target: SlugTarget, visit: Visit, exchange: Exchange) => void;
/** `otherwise`: the address leads to nothing. */
type Outcomes = { found: Found; otherwise: Unknown };
type Unknown = (visit: Visit, exchange: Exchange) => void;
type Arrived = { visit: Visit; exchange: Exchange };

/**
 * Returns the visit that the target serves: with the path behind the slug if the target appends it, else without. Null:
 * the address leads to nothing.
 */
function takenBy(target: SlugTarget, visit: Visit): Visit | null {
  const { path } = visit;
  if (path === '') return visit;
  if (target.kind === 'link' && target.forwardsPath) return isForwardable(path) ? visit : null;
  return isTail(path) ? { ...visit, path: '' } : null;
}

export function createRedirectHandler(given: {
  links: CompiledLinks;
  resolver: Resolver;
  policies: WorkspacePolicies;
  hosts: Hosts;
  exchanges: Exchanges;
  clientAddress: ClientAddress;
  metrics: IngestMetrics;
  pages: VisitorPages;
  visitLink(link: CompiledLink, visit: Visit, exchange: Exchange): void;
  otherKinds: OtherKinds;
  domainVisits: DomainVisits;
  ownHost: OwnHost;
  /** Called after all visits of a turn of the event loop: their clicks are written then. */
  endTurn(): void;
}): RedirectHandler {
  const { links, resolver, policies, hosts, exchanges, clientAddress } = given;
  const { metrics, pages, visitLink, otherKinds, domainVisits, ownHost, endTurn } = given;

  function respondNotFound(visit: Visit, exchange: Exchange): void {
    metrics.countOutcome('not_found');
    const { headers, body } = pages.of(visit, visit.host?.workspaceId ?? null).notFound;
    exchanges.reply(exchange, '404 Not Found', headers, body);
  }

  /** Responds to a GET of an unknown address. On a workspace's domain it is a click without a link. */
  const respondUnknown: Unknown = (asked, exchange) => {
    const visit = asked.path === '/' ? { ...asked, path: '' } : asked;
    if (visit.host === null) ownHost.respond(visit, exchange);
    else domainVisits.respondUnknown(visit.host, visit, exchange);
  };
  const refuseUnknown: Unknown = (visit, exchange) => {
    if (visit.host === null && visit.slug === 'api') ownHost.refuseApiCall(exchange);
    else respondNotFound(visit, exchange);
  };

  const respondOther = (_: OtherRecord, visit: Visit, exchange: Exchange) => respondUnknown(visit, exchange);

  function respondUnavailable(visit: Visit, exchange: Exchange): void {
    metrics.countOutcome('unavailable');
    const { headers, body } = pages.of(visit, visit.host?.workspaceId ?? null).unavailable;
    exchanges.reply(exchange, '503 Service Unavailable', headers, body);
  }

  /** Calls `found`, unless the target is blocked, suspended or not yet started. */
  function unlessBlocked(
    target: SlugTarget,
    visit: Visit,
    exchange: Exchange,
    { found, otherwise }: Outcomes,
  ): void {
    const isBlocked = target.kind === 'link' && target.isBlocked;
    const taken = takenBy(target, visit);
    if (target.kind === 'workspace' || target.kind === 'domain' || taken === null) otherwise(visit, exchange);
    else if (isBlocked || policies.isSuspended(target.workspaceId)) {
      metrics.countOutcome('blocked');
      const { headers, body } = pages.of(visit, target.workspaceId).blocked;
      exchanges.reply(exchange, '410 Gone', headers, body);
    } else if (target.kind === 'link' && target.startsAt !== null && Date.now() < target.startsAt) {
      otherwise(visit, exchange);
    } else found(target, taken, exchange);
  }

  /** Calls `found` at once when the slug is in memory, else after the lookup. */
  function find(visit: Visit, exchange: Exchange, outcomes: Outcomes): void {
    const { path, host, slug } = visit;
    if (path.length > 1 && links.mayGoOn(host?.number ?? OWN_DOMAIN, slug)) {
      findLongest(visit, longerAddresses(visit), exchange, outcomes);
    } else findSlug(visit, exchange, outcomes);
  }

  /** Finds the longest slug that an address begins with: `a/b`, then `a` with the path `/b`. */
  function findLongest(
    visit: Visit,
    [longest, ...others]: Visit[],
    exchange: Exchange,
    outcomes: Outcomes,
  ): void {
    const otherwise = () => findLongest(visit, others, exchange, outcomes);
    if (longest === undefined) findSlug(visit, exchange, outcomes);
    else findSlug(longest, exchange, { found: outcomes.found, otherwise });
  }

  function findSlug(visit: Visit, exchange: Exchange, outcomes: Outcomes): void {
    const { name, slug, host } = visit;
    const { otherwise } = outcomes;
    const known = links.known(name);
    if (known !== undefined) {
      unlessBlocked(known, visit, exchange, outcomes);
    } else if (!isKeptSlug(slug)) {
      findTyped(visit, exchange, outcomes);
    } else if (name !== nameAt(host, slug)) {
      findSlug(atSlug(visit, slug), exchange, outcomes);
    } else if (resolver.knownAbsent(name)) {
      otherwise(visit, exchange);
    } else {
      exchanges.after(exchange, lookUp(name), (target) => {
        if (target === 'unavailable') respondUnavailable(visit, exchange);
        else if (target === null) otherwise(visit, exchange);
        else if (!exchange.over) unlessBlocked(target, visit, exchange, outcomes);
      });
    }
  }

  /** Looks up an unknown address again without the punctuation that texts leave behind a slug. */
  function findTyped(visit: Visit, exchange: Exchange, { found, otherwise }: Outcomes): void {
    const slug = withoutTail(visit.slug);
    if (!isKeptSlug(slug)) otherwise(visit, exchange);
    else findSlug(atSlug(visit, slug), exchange, { found, otherwise: () => otherwise(visit, exchange) });
  }

  async function lookUp(name: string): Promise<SlugTarget | null | 'unavailable'> {
    try {
      return await links.resolve(name);
    } catch (error) {
      if (!(error instanceof LookupUnavailable)) throw error;
      return 'unavailable';
    }
  }

  function respond(target: SlugTarget, visit: Visit, exchange: Exchange): void {
    if (target.kind === 'link') visitLink(target, visit, exchange);
    else (otherKinds[target.kind] ?? respondOther)(target, visit, exchange);
  }

  const outcomes: Outcomes = { found: respond, otherwise: respondUnknown };

  function visitAddress(visit: Visit, exchange: Exchange): void {
    const { host } = visit;
    if (host === null || !domainVisits.servedFile(host, visit, exchange)) find(visit, exchange, outcomes);
  }

  /** Visits of this turn of the event loop. */
  let arrived: Arrived[] = [];

  function respondArrived(): void {
    const all = arrived;
    arrived = [];
    for (const { visit, exchange } of all) {
      try {
        visitAddress(visit, exchange);
      } catch (error) {
        exchanges.fail(exchange, error);
      }
    }
    endTurn();
  }

  return {
    handle(res, req, head) {
      // Handled together at the end of the turn: their code then stays in the processor's caches, which the kernel's
      // socket work evicts.
      if (arrived.length === 0) setImmediate(respondArrived);
      const visit = readVisit(req, res, head, clientAddress, hosts, metrics.startTiming());
      arrived.push({ visit, exchange: exchanges.open(res, head) });
    },
    withLink(visit, exchange, then) {
      find(visit, exchange, {
        found(target) {
          if (target.kind === 'link') then(target);
          else respondNotFound(visit, exchange);
        },
        otherwise: refuseUnknown,
      });
    },
  };
}
