import type { EnrichedClick } from '../../core/enrich/enrich.ts';

/** Returns the derived fields of a click of which nothing is known, with changes. */
export function enrichedClick(changes: Partial<EnrichedClick> = {}): EnrichedClick {
  return {
    country: '',
    city: '',
    device: 'desktop',
    browser: '',
    os: '',
    isBot: false,
    channel: '',
    referer: '',
    refererHost: '',
    continent: '',
    region: '',
    asn: 0,
    domain: '',
    slug: '',
    trigger: 'link',
    utmSource: '',
    utmMedium: '',
    utmCampaign: '',
    utmTerm: '',
    utmContent: '',
    language: '',
    ruleId: '',
    variantId: '',
    ...changes,
  };
}
