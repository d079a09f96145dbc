import { CREDITED_TEXTS, type CreditedClick } from '../../core/analytics/dimensions.ts';
import type { EnrichedClick } from '../../core/enrich/enrich.ts';
import type { Place } from '../../core/enrich/geo.ts';
import { DIRECT } from '../../core/enrich/sources.ts';
import type { StoredReferer } from '../../core/enrich/stored-referer.ts';
import type { UserAgentProfile } from '../../core/enrich/user-agents.ts';
import { NO_AD } from '../../core/events/ad-clicks.ts';
import { NO_LABELS } from '../../core/events/click-labels.ts';

type Changes = Partial<Omit<EnrichedClick, 'place' | 'agent' | 'referer'>> & {
  place?: Partial<Place>;
  agent?: Partial<UserAgentProfile>;
  referer?: Partial<StoredReferer>;
};

/** Returns the derived fields of a click with unknown properties, and the given changes. */
export function enrichedClick(changes: Changes = {}): EnrichedClick {
  const { place, agent, referer, ...others } = changes;
  return {
    place: { country: '', city: '', continent: '', region: '', asn: 0, ...place },
    agent: { device: 'desktop', browser: '', os: '', bot: false, ...agent },
    referer: { text: '', host: '', ...DIRECT, ...referer },
    labels: NO_LABELS,
    channel: '',
    language: '',
    trigger: 'link',
    ad: NO_AD,
    isBot: false,
    ...others,
  };
}

/** Returns the dimensions that an attributed share has from a click with unknown properties, and the given changes. */
export function creditedClick(changes: Partial<CreditedClick> = {}): CreditedClick {
  const texts = Object.fromEntries(CREDITED_TEXTS.map((name) => [name, ''])) as Record<
    (typeof CREDITED_TEXTS)[number],
    string
  >;
  return { ...texts, trigger: 'link', asn: 0, ...changes };
}
