import type Stripe from 'stripe';

/**
 * Wraps a client of Stripe's package so that it sends each POST once. The package repeats a request whose connection
 * was closed (`ECONNRESET`, `EPIPE`), whatever `maxNetworkRetries` says, and half a second of its clock may be a day of
 * Stripe's: a machine that sleeps in between would send a balance twice, because Stripe keeps an `Idempotency-Key` for
 * 24 hours. Callers repeat a request themselves once they have looked for what it left. A GET is still repeated.
 */
export function sentOnce(client: Stripe.HttpClient): Stripe.HttpClient {
  return {
    getClientName: () => client.getClientName(),
    async makeRequest(...request) {
      const [, , , method] = request;
      try {
        return await client.makeRequest(...request);
      } catch (error) {
        if (method === 'GET' || !isClosed(error)) throw error;
        throw new Error(error.message, { cause: error });
      }
    },
  };
}

const isClosed = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
