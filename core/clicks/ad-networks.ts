// Browsers run this file too.
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

/** Returns the network of a parameter; empty for another name. */
export function adNetworkOf(param: string): AdNetwork | '' {
  return Object.hasOwn(AD_PARAMETERS, param) ? AD_PARAMETERS[param as AdParameter] : '';
}
