import { ApiFailure, fieldError } from '../../api/failures.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { sentence } from '../../api/sentence.ts';
import { plural } from '../../formats.ts';
import { cleanAddress, isOnSite } from '../../parts/clean-address.ts';
import { daysIn, numberIn } from './workspace-draft.ts';

type Settings = ResponseOf<'/workspace'>;

/** What pages may do with a publishable key, as the fields have it. */
export type Draft = {
  identity_verification: Settings['identity_verification'];
  payout_hold_days: string;
  /** One a line. */
  allowed_origins: string;
};
type Field = keyof Draft;

const FIELDS = ['identity_verification', 'payout_hold_days', 'allowed_origins'] as const;

/** Names of the settings, in words. */
export const FIELD_NAMES: Record<Field, string> = {
  identity_verification: 'Signed users',
  payout_hold_days: 'Days to hold a changed payout address',
  allowed_origins: 'Allowed origins',
};

export const draftOf = (settings: Settings): Draft => ({
  identity_verification: settings.identity_verification,
  payout_hold_days: String(settings.payout_hold_days),
  allowed_origins: settings.allowed_origins.join('\n'),
});

/**
 * Returns the origins in a text, one per line. The URL of a page becomes its origin, and a host gets `https://`. Other
 * text stays, and the API refuses it.
 */
export function originsIn(text: string): string[] {
  const lines = text.split(/[\s,]+/).filter((line) => line !== '');
  return [...new Set(lines.map(originOf))];
}

function originOf(line: string): string {
  const address = cleanAddress(line);
  // Browsers escape a wildcard in a host, and the API's message is to name what was typed.
  const url = address.includes('*') ? null : URL.parse(address);
  // Schemes of apps, such as `capacitor:`, have the origin `null` in a `URL`.
  return url && url.host !== '' && url.origin !== 'null' ? url.origin : address.toLowerCase();
}

/** Fields that differ, in the order of the form. */
const changedIn = (before: Draft, draft: Draft): Field[] =>
  FIELDS.filter((field) =>
    field === 'allowed_origins'
      ? originsIn(draft.allowed_origins).join() !== originsIn(before.allowed_origins).join()
      : draft[field].trim() !== before[field],
  );

/** The body of a change: what differs. Text that is not a number is sent as it is, so that the API names the field. */
export function bodyOf(before: Draft, draft: Draft): Record<string, unknown> {
  const values: Record<Field, unknown> = {
    identity_verification: draft.identity_verification,
    payout_hold_days: numberIn(draft.payout_hold_days),
    allowed_origins: originsIn(draft.allowed_origins),
  };
  return Object.fromEntries(changedIn(before, draft).map((field) => [field, values[field]]));
}

/**
 * Returns what each change does to calls from pages.
 *
 * @param ownSite domain of the workspace's own site; null: not set
 */
export const effectsOf = (before: Draft, draft: Draft, ownSite: string | null): string[] =>
  changedIn(before, draft).map((field) => EFFECTS[field](draft, ownSite));

const EFFECTS: Record<Field, (draft: Draft, ownSite: string | null) => string> = {
  identity_verification: ({ identity_verification }) =>
    identity_verification === 'required'
      ? 'Calls from pages that name a user without a valid user_hash are refused (403).'
      : 'Pages can name any user: no user_hash is needed.',
  payout_hold_days: ({ payout_hold_days }) =>
    Number(payout_hold_days) === 0
      ? 'Payouts are not held back when a page changes their address without a valid user_hash.'
      : `A payout is held back for ${daysIn(payout_hold_days)} after a page changed its address without a valid user_hash.`,
  allowed_origins: ({ allowed_origins }, ownSite) => {
    const origins = originsIn(allowed_origins);
    if (origins.length === 0) return 'Pages of any origin can use a publishable key.';
    const named = origins.length > 3 ? `these ${origins.length}` : origins.join(', ');
    const missesOwn = ownSite !== null && !origins.some((origin) => isOnSite(origin, ownSite));
    return [
      `Calls from pages of origins other than ${named} are refused (403): nothing that they report is recorded.`,
      'Servers and apps send no origin; their calls are not affected.',
      ...(missesOwn ? [`None of these origins is on your own site, ${ownSite}.`] : []),
    ].join(' ');
  },
};

/**
 * Returns the message for the origins, which names the wrong one; null where none is wrong.
 *
 * @param sent the body that failed
 */
export function originsError(error: unknown, sent: Record<string, unknown> | undefined): string | null {
  const all = fieldError(error, 'allowed_origins');
  if (all !== null) return sentence(`${FIELD_NAMES.allowed_origins} ${all}`);
  const details = error instanceof ApiFailure ? error.details : [];
  const [detail] = details.filter(({ path }) => path.startsWith('allowed_origins.'));
  if (!detail) return null;
  const index = Number(detail.path.split('.')[1]);
  const wrong = Array.isArray(sent?.allowed_origins) ? String(sent.allowed_origins[index]) : detail.path;
  return sentence(`“${wrong}” ${detail.message}`);
}

/** The settings with their names, for members who may not change them. */
export function shownValues(settings: Settings): { name: string; values: readonly string[] }[] {
  const { identity_verification, payout_hold_days, allowed_origins } = settings;
  return [
    {
      name: FIELD_NAMES.allowed_origins,
      values: allowed_origins.length === 0 ? ['Any'] : allowed_origins,
    },
    {
      name: FIELD_NAMES.identity_verification,
      values: [identity_verification === 'required' ? 'Required' : 'Not required'],
    },
    { name: 'A changed payout address is held', values: [plural(payout_hold_days, 'day', 'days')] },
  ];
}
