import { typedNumber } from '../../parts/typed-number.ts';
import type { Fulfilment } from './responses.ts';

/** What the form of a fulfilment holds. An empty key means that it stays as it is. */
export type FulfilmentDraft = {
  provider: Fulfilment['provider'];
  url: string;
  restrictedKey: string;
  currency: string;
  /** As typed. */
  creditValue: string;
  includeEarlier: boolean;
};

export function draftOf(fulfilment: Fulfilment | null, currency: string): FulfilmentDraft {
  const settings = fulfilment?.settings;
  return {
    provider: fulfilment?.provider ?? 'webhook',
    url: settings?.url ?? '',
    restrictedKey: '',
    currency: settings?.currency ?? currency,
    creditValue: String(settings?.credit_value ?? 1),
    includeEarlier: false,
  };
}

/** Returns the settings of the draft's provider. */
export function settingsOf(draft: FulfilmentDraft): Record<string, unknown> {
  if (draft.provider === 'webhook') return { url: draft.url.trim() };
  const key = draft.restrictedKey.trim();
  return {
    ...(key !== '' && { restricted_key: key }),
    currency: draft.currency.trim().toLowerCase(),
    credit_value: typedNumber(draft.creditValue),
  };
}
