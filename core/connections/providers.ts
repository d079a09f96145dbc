// Browsers run this file too.
/** The name of a billing provider, and what a user needs to know to connect it. */
export type ProviderWords = {
  readonly name: string;
  /** Where its webhooks are, after "In Stripe,". */
  readonly place: string;
  /** Where the signing secret of a webhook is. */
  readonly secret: string;
  /** Whether its events tell test mode from live mode. */
  readonly hasModes: boolean;
  /** What every signing secret begins with; left out: anything. */
  readonly secretPrefix?: string;
  /** What a key of its API is for; left out: the API is not called. */
  readonly restrictedKey?: string;
  /** Matches customers' ids and no other ids. Left out: its ids have no form of their own, such as plain numbers. */
  readonly customerId?: RegExp;
  /** Matches ids by which its events name discount codes. Left out: they name codes as people type them. */
  readonly codeId?: RegExp;
  /** Texts of the guide: the events that count, and where the names of the buyer go. */
  readonly guide?: readonly [events: string, buyer: string];
};

/** The billing providers that can be connected. `connectors.ts` has what reads their events. */
const PROVIDER_WORDS = {
  stripe: {
    name: 'Stripe',
    place: 'open Developers, then Webhooks, and add a destination with this address:',
    secret: 'Stripe shows it at the webhook that you have added. It begins with whsec_.',
    hasModes: true,
    // An API key, or the id of the webhook, would refuse every event.
    secretPrefix: 'whsec_',
    restrictedKey:
      'Optional. A key that may read invoices, where an event does not tell enough, and that may write coupons, promotion codes, and customers, to make promotion codes and to deliver credits.',
    customerId: /^cus_\w+$/,
    codeId: /^(promo|di)_/,
  },
  paddle: {
    name: 'Paddle',
    place: 'open Developer tools, then Notifications, and add a destination of type URL with this address:',
    secret: 'The secret key of the destination that you have added. It begins with pdl_ntfset_.',
    hasModes: false,
    customerId: /^ctm_[0-9a-z]{26}$/,
    codeId: /^dsc_/,
    guide: [
      '`transaction.completed`, `adjustment.*`, `subscription.created`',
      '`custom_data` of checkout, customer',
    ],
  },
  lemonsqueezy: {
    name: 'Lemon Squeezy',
    place: 'open Settings, then Webhooks, and add a webhook with this address:',
    secret: 'The signing secret that you choose for the webhook: 6 to 40 characters.',
    hasModes: true,
    guide: ['`order_*`, `subscription_*`', '`checkout[custom]`'],
  },
  polar: {
    name: 'Polar',
    place: 'open Settings, then Webhooks, and add an endpoint with format Raw and this address:',
    secret: 'Polar generates it for the endpoint. Copy it whole.',
    hasModes: false,
    customerId: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    guide: [
      '`order.paid`, `order.refunded`, `refund.updated`, `customer.*`',
      "`metadata`, and the customer's `external_id`",
    ],
  },
  shopify: {
    name: 'Shopify',
    place:
      'open Settings, then Notifications, then Webhooks, and create one for each event, as JSON, with this address:',
    secret: 'Shopify shows it below the webhooks that you have created.',
    hasModes: true,
    guide: ['`orders/paid`, `refunds/create`, `order_transactions/create`', '`note_attributes` of the order'],
  },
} as const satisfies Record<string, ProviderWords>;
export type Provider = keyof typeof PROVIDER_WORDS;
export const PROVIDERS = Object.keys(PROVIDER_WORDS) as Provider[];

/** Returns what the table says of a provider. */
export const providerWords = (provider: Provider): ProviderWords => PROVIDER_WORDS[provider];

/** `live`: events of test mode are ignored; `test`: those of live mode. */
export const CONNECTION_MODES = ['live', 'test'] as const;
export type ConnectionMode = (typeof CONNECTION_MODES)[number];

export type ConnectionSettings = {
  mode: ConnectionMode;
  /** Accounts of Stripe Connect whose events count too. Left out: none. */
  accounts?: string[];
};
