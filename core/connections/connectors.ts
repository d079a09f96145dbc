import type { Connector } from './connector.ts';
import type { Provider } from './providers.ts';
import { stripe } from './stripe/connector.ts';

/** The connectors, by provider. */
const CONNECTORS: Partial<Record<Provider, Connector>> = { stripe };

/** The providers that can be connected in this version. */
export const CONNECTABLE = Object.keys(CONNECTORS) as Provider[];

/** Returns the connector of a provider. @throws Error when this version has none */
export function connectorOf(provider: Provider): Connector {
  const connector = CONNECTORS[provider];
  if (!connector) throw new Error(`no connector of ${provider}`);
  return connector;
}
