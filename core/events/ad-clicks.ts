import { AD_PARAMETERS, type AdNetwork, adNetworkOf } from '../clicks/ad-networks.ts';

/** The id that an advertising network gave to a click. */
export type AdClick = {
  /** Name of the parameter; empty when there was none. */
  readonly param: string;
  /** Value of the parameter; empty when it can't be an id. */
  readonly id: string;
};

/** An id with its network. */
export type NetworkClick = AdClick & { readonly network: AdNetwork | '' };

/** The value for clicks without an id of a network. They share this object. */
export const NO_AD: NetworkClick = Object.freeze({ network: '', param: '', id: '' });

/** Longest id, in UTF-16 code units. */
const ID_LIMIT = 512;
/** Includes U+FFFD, which replaces bytes that are not UTF-8: the sent value is lost, and no network has such ids. */
const NO_ID = /[\p{Cc}\p{Cs}\uFFFD]/u;
/** Matches every query that may have a parameter of a network. The parameter's name may be escaped. */
const MAY_NAME_AD = new RegExp(`%|${Object.keys(AD_PARAMETERS).join('|')}`);

/**
 * Returns the first id of a network in a raw query without `?`. A parameter without a value does not count. A value
 * that is too long, has control characters, or is not UTF-8 is dropped, but the click stays the network's.
 *
 * @returns null when there is none
 */
export function adClickIn(query: string): AdClick | null {
  if (query === '' || !MAY_NAME_AD.test(query)) return null;
  for (const [param, value] of new URLSearchParams(query)) {
    if (value === '' || adNetworkOf(param) === '') continue;
    return { param, id: isAdClickId(value) ? value : '' };
  }
  return null;
}

/** Returns whether a text can be the id that a network gave to a click. */
export function isAdClickId(text: string): boolean {
  return text.length <= ID_LIMIT && !NO_ID.test(text);
}
