import Stripe from 'stripe';
import { sentOnce } from '../../core/connections/stripe/sent-once.ts';
import { world } from '../world/world.ts';
import type { StripeAnswer, StripeServer } from './stripe.ts';

/**
 * Stands in for `core/connections/stripe/client.ts`: Stripe's package as it is, whose calls go to the Stripe of the
 * simulated world in place of a socket.
 */

let server: StripeServer | null = null;

/** Makes this the Stripe of all calls. */
export function callStripe(present: StripeServer): void {
  server = present;
}

export async function openStripe(key: string, _apiBase: string, timeout: number): Promise<Stripe> {
  const httpClient = sentOnce(new SimulatedHttp());
  return new Stripe(key, { httpClient, timeout, maxNetworkRetries: 0, telemetry: false });
}

class Response extends Stripe.HttpClientResponse {
  readonly #body: StripeAnswer['body'];

  constructor({ status, body }: StripeAnswer) {
    super(status, {});
    this.#body = body;
  }

  override getRawResponse(): unknown {
    return this;
  }

  override toJSON(): Promise<unknown> {
    return Promise.resolve(structuredClone(this.#body));
  }
}

class SimulatedHttp extends Stripe.HttpClient {
  override getClientName(): string {
    return 'simulated';
  }

  override makeRequest(
    _host: string,
    _port: string | number,
    path: string,
    method: string,
    headers: object,
    data: string | null,
    _protocol: string,
    timeout: number,
  ): Promise<Response> {
    const present = world();
    present.beforeOperation();
    const sender = present.current;
    const names = Object.entries(headers).find(([name]) => name.toLowerCase() === 'idempotency-key');
    const key = names === undefined ? null : String(names[1]);
    return new Promise((resolve, reject) => {
      const late = present.schedule(timeout, () => reject(Stripe.HttpClient.makeTimeoutError()), sender);
      const over = (settle: () => void) => {
        late.isCancelled = true;
        settle();
      };
      server?.send(
        { method, path, body: String(data ?? ''), key },
        {
          heard: (answer) => over(() => resolve(new Response(answer))),
          lost: () => over(() => reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))),
        },
      );
    });
  }
}
