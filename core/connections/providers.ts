/** The billing providers that can be connected. */
export const PROVIDERS = ['stripe', 'paddle', 'lemonsqueezy', 'polar', 'shopify'] as const;
export type Provider = (typeof PROVIDERS)[number];

export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  stripe: 'Stripe',
  paddle: 'Paddle',
  lemonsqueezy: 'Lemon Squeezy',
  polar: 'Polar',
  shopify: 'Shopify',
};

/** `live`: events of test mode are ignored; `test`: those of live mode. */
export const CONNECTION_MODES = ['live', 'test'] as const;
export type ConnectionMode = (typeof CONNECTION_MODES)[number];

export type ConnectionSettings = {
  mode: ConnectionMode;
  /** Accounts of Stripe Connect whose events count too. Left out: none. */
  accounts?: string[];
};
