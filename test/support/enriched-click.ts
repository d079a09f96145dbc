import { CREDITED_TEXTS, type CreditedClick } from '../../core/analytics/dimensions.ts';
import type { EnrichedClick } from '../../core/enrich/enrich.ts';
import { NO_LABELS } from '../../core/events/click-labels.ts';

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
    trigger: 'link',
    language: '',
    labels: NO_LABELS,
    ...changes,
  };
}

/** Returns what an attributed share keeps of a click of which nothing is known, with changes. */
export function creditedClick(changes: Partial<CreditedClick> = {}): CreditedClick {
  const texts = Object.fromEntries(CREDITED_TEXTS.map((name) => [name, ''])) as Record<
    (typeof CREDITED_TEXTS)[number],
    string
  >;
  return { ...texts, trigger: 'link', asn: 0, ...changes };
}
