import type Stripe from 'stripe';
import { sentOnce } from './sent-once.ts';

/**
 * Opens Stripe's API. The package is loaded at the first call: most processes never need it.
 *
 * @param apiBase origin of the API, or of a stand-in
 * @param timeout of one call, in milliseconds. A POST is not repeated.
 */
export async function openStripe(key: string, apiBase: string, timeout: number): Promise<Stripe> {
  const { default: Client } = await import('stripe');
  const { protocol, hostname, port } = new URL(apiBase);
  return new Client(key, {
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    ...(port !== '' && { port: Number(port) }),
    timeout,
    httpClient: sentOnce(Client.createNodeHttpClient()),
    maxNetworkRetries: 0,
    telemetry: false,
  });
}
