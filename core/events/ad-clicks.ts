/** The advertising networks, by the parameter of the address that carries the network's id of the click. */
export const AD_PARAMETERS = {
  gclid: 'google',
  gbraid: 'google',
  wbraid: 'google',
  dclid: 'google',
  fbclid: 'meta',
  msclkid: 'microsoft',
  ttclid: 'tiktok',
  twclid: 'x',
  li_fat_id: 'linkedin',
  rdt_cid: 'reddit',
  epik: 'pinterest',
  ScCid: 'snapchat',
} as const;

type AdParameter = keyof typeof AD_PARAMETERS;
export type AdNetwork = (typeof AD_PARAMETERS)[AdParameter];

/** Every network once. */
export const AD_NETWORKS: readonly AdNetwork[] = [...new Set(Object.values(AD_PARAMETERS))];

/** The id that an advertising network gave to a click. */
export type AdClick = {
  /** Name of the parameter; empty when there was none. */
  readonly param: string;
  /** Value of the parameter; empty when it can't be an id. */
  readonly id: string;
};

/** Of a click that no network gave an id. One object for all of them. */
export const NO_AD: AdClick = Object.freeze({ param: '', id: '' });

/** Longest id, in UTF-16 code units. */
const ID_LIMIT = 512;
const CONTROL = /\p{Cc}/u;
/** Matches every query that names a parameter of a network, whose name may be escaped. */
const MAY_NAME_AD = new RegExp(`%|${Object.keys(AD_PARAMETERS).join('|')}`);

/** Returns the network of a parameter; empty for another name. */
export function adNetworkOf(param: string): AdNetwork | '' {
  return Object.hasOwn(AD_PARAMETERS, param) ? AD_PARAMETERS[param as AdParameter] : '';
}

/**
 * Returns the first id of a network in a raw query without `?`. A parameter without a value is none. A value that is too
 * long or has control characters is left out; the click still is the network's.
 */
export function adClickIn(query: string): AdClick {
  if (query === '' || !MAY_NAME_AD.test(query)) return NO_AD;
  for (const [param, value] of new URLSearchParams(query)) {
    if (value === '' || adNetworkOf(param) === '') continue;
    const isId = value.length <= ID_LIMIT && !CONTROL.test(value) && value.isWellFormed();
    return { param, id: isId ? value : '' };
  }
  return NO_AD;
}
