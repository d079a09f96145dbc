import type { Connector } from './connector.ts';
import { lemonsqueezy } from './lemonsqueezy/connector.ts';
import { paddle } from './paddle/connector.ts';
import { polar } from './polar/connector.ts';
import type { Provider } from './providers.ts';
import { shopify } from './shopify/connector.ts';
import { stripe } from './stripe/connector.ts';

/** The connectors, by provider. */
const CONNECTORS: Readonly<Record<Provider, Connector>> = { stripe, paddle, lemonsqueezy, polar, shopify };

/** Returns the connector of a provider. */
export const connectorOf = (provider: Provider): Connector => CONNECTORS[provider];
