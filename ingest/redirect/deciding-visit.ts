import type { Geo, Place } from '../../core/enrich/geo.ts';
import { preferredLanguageTag } from '../../core/enrich/languages.ts';
import { createUserAgents, type UserAgentProfile } from '../../core/enrich/user-agents.ts';
import type { DecidingVisit } from '../../core/links/rules/decide.ts';
import type { Visit } from './visit.ts';

/** Facts about a visitor that are not in the request. */
export type Visited = Pick<DecidingVisit, 'channel' | 'visitor' | 'visitorId'>;

/** Returns the facts that rules, targeting and splits of a link need. Each is computed on first use. */
export type DecidingVisits = (visit: Visit, visited: Visited) => DecidingVisit;

/** Memoized user agents, half a KiB each. Only links with such rules need them. */
const AGENTS = 10_000;

export function createDecidingVisits(places: Geo): DecidingVisits {
  const { profileOf } = createUserAgents(AGENTS);

  class Facts implements DecidingVisit {
    readonly channel: string;
    readonly visitor: 'new' | 'returning';
    readonly visitorId: Uint8Array;
    readonly now = Date.now();
    readonly #visit: Visit;

    constructor(visit: Visit, { channel, visitor, visitorId }: Visited) {
      this.#visit = visit;
      this.channel = channel;
      this.visitor = visitor;
      this.visitorId = visitorId;
    }

    get place(): Place {
      return places.placeOf(this.#visit.address);
    }

    get agent(): UserAgentProfile {
      return profileOf(this.#visit.userAgent);
    }

    get language(): string {
      return preferredLanguageTag(this.#visit.acceptLanguage);
    }

    get query(): string {
      return this.#visit.query;
    }
  }

  return (visit, visited) => new Facts(visit, visited);
}
