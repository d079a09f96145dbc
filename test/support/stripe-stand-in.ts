import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A customer balance transaction, with the fields of Stripe's published fixture (OpenAPI document, 2025-03-31). */
export type BalanceTransaction = {
  id: string;
  object: 'customer_balance_transaction';
  amount: number;
  created: number;
  credit_note: null;
  currency: string;
  customer: string;
  description: string | null;
  ending_balance: number;
  invoice: null;
  livemode: boolean;
  metadata: Record<string, string>;
  type: 'adjustment';
};

export type StripeCall = {
  method: string;
  path: string;
  idempotencyKey: string | null;
  authorization: string;
};

/** How the stand-in handles a call that creates a transaction. */
export type Behavior =
  /** Creates it and responds. */
  | 'work'
  /** Creates it once and closes each connection instead of responding. */
  | 'lose-response'
  /** Creates it and never responds. */
  | 'hang'
  /** Fails before it is created, and saves that response under the key, as Stripe does. */
  | { status: number; code: string; retryAfter?: string };

/**
 * A local stand-in for the part of Stripe's API that fulfilments call. It enforces the idempotency that Stripe
 * documents (https://docs.stripe.com/api/idempotent_requests): the first response under a key is saved, errors
 * included, and repeated; other parameters under the key are a 400; a call while the first one runs is a 409.
 */
export type StripeStandIn = {
  origin: string;
  calls: StripeCall[];
  transactions: BalanceTransaction[];
  /** Customers with the metadata that names their user. */
  customers: { id: string; metadata: Record<string, string> }[];
  behave(behavior: Behavior): void;
  /** Forgets the keys, as Stripe does after 24 hours. */
  forgetKeys(): void;
  close(): Promise<void>;
};

type Saved = { parameters: string; status: number | null; body: unknown };

export async function startStripeStandIn(): Promise<StripeStandIn> {
  const calls: StripeCall[] = [];
  const transactions: BalanceTransaction[] = [];
  const customers: StripeStandIn['customers'] = [];
  const keys = new Map<string, Saved>();
  let behavior: Behavior = 'work';

  const send = (response: ServerResponse, status: number, body: unknown, headers: object = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  const refuse = (response: ServerResponse, status: number, error: object) =>
    send(response, status, { error: { type: 'invalid_request_error', ...error } });

  function make(customer: string, form: URLSearchParams): BalanceTransaction {
    const amount = Number(form.get('amount'));
    const metadata = [...form]
      .map(([name, value]) => [/^metadata\[(.+)\]$/.exec(name)?.[1], value] as const)
      .filter((entry): entry is [string, string] => entry[0] !== undefined);
    const before = transactions.findLast((one) => one.customer === customer)?.ending_balance ?? 0;
    const made: BalanceTransaction = {
      id: `cbtxn_${String(transactions.length + 1).padStart(14, '0')}`,
      object: 'customer_balance_transaction',
      amount,
      created: Math.floor(Date.now() / 1_000),
      credit_note: null,
      currency: form.get('currency') ?? '',
      customer,
      description: form.get('description'),
      ending_balance: before + amount,
      invoice: null,
      livemode: false,
      metadata: Object.fromEntries(metadata),
      type: 'adjustment',
    };
    transactions.push(made);
    return made;
  }

  function create(response: ServerResponse, customer: string, body: string, key: string | null): void {
    const parameters = `${customer} ${body}`;
    const known = key === null ? undefined : keys.get(key);
    if (known && known.parameters !== parameters) {
      const message = `Keys for idempotent requests can only be used with the same parameters they were first used with.`;
      return void send(response, 400, { error: { type: 'idempotency_error', message } });
    }
    if (known && known.status === null) {
      return void send(response, 409, {
        error: { type: 'idempotency_error', code: 'idempotency_key_in_use' },
      });
    }
    // The package immediately repeats a call whose connection was reset.
    if (known && behavior === 'lose-response') return void response.destroy();
    if (known) return void send(response, known.status ?? 500, known.body, { 'idempotent-replayed': 'true' });
    const saved: Saved = { parameters, status: null, body: null };
    if (key !== null) keys.set(key, saved);
    if (!customers.some(({ id }) => id === customer)) {
      saved.status = 404;
      saved.body = {
        error: {
          type: 'invalid_request_error',
          code: 'resource_missing',
          message: `No such customer: '${customer}'`,
          param: 'customer',
        },
      };
    } else if (typeof behavior === 'object') {
      saved.status = behavior.status;
      saved.body = { error: { type: 'api_error', code: behavior.code, message: 'An error occurred.' } };
    } else {
      saved.status = 200;
      saved.body = make(customer, new URLSearchParams(body));
    }
    // A rate limit applies before the call runs, and its response is not saved.
    if (saved.status === 429 && key !== null) keys.delete(key);
    if (behavior === 'hang') return;
    if (behavior === 'lose-response') return void response.destroy();
    const retryAfter = typeof behavior === 'object' ? behavior.retryAfter : undefined;
    send(response, saved.status, saved.body, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
  }

  function list(response: ServerResponse, customer: string, query: URLSearchParams): void {
    const since = Number(query.get('created[gte]') ?? 0);
    const all = transactions.filter((one) => one.customer === customer && one.created >= since).toReversed();
    const from = all.findIndex(({ id }) => id === query.get('starting_after')) + 1;
    const limit = Number(query.get('limit') ?? 10);
    const data = all.slice(from, from + limit);
    send(response, 200, { object: 'list', data, has_more: all.length > from + limit, url: '/v1/customers' });
  }

  function search(response: ServerResponse, query: URLSearchParams): void {
    const [, user = ''] = /^metadata\['hoplog_user_id'\]:'(.*)'$/.exec(query.get('query') ?? '') ?? [];
    const named = user.replaceAll(/\\(.)/g, '$1');
    const data = customers
      .filter(({ metadata }) => metadata.hoplog_user_id === named)
      .map((customer) => ({ object: 'customer', ...customer }));
    send(response, 200, { object: 'search_result', data, has_more: false, url: '/v1/customers/search' });
  }

  function route(request: IncomingMessage, response: ServerResponse, body: string): void {
    const url = new URL(request.url ?? '', 'http://stripe');
    const idempotencyKey = request.headers['idempotency-key']?.toString() ?? null;
    const authorization = request.headers.authorization ?? '';
    calls.push({ method: request.method ?? '', path: url.pathname, idempotencyKey, authorization });
    const [, customer] = /^\/v1\/customers\/([^/]+)\/balance_transactions$/.exec(url.pathname) ?? [];
    const isPost = request.method === 'POST';
    if (!/^Bearer rk_test_/.test(authorization))
      refuse(response, 401, { message: 'Invalid API Key provided' });
    else if (customer !== undefined && isPost) create(response, customer, body, idempotencyKey);
    else if (customer !== undefined) list(response, customer, url.searchParams);
    else if (url.pathname === '/v1/customers/search') search(response, url.searchParams);
    else refuse(response, 404, { message: `Unrecognized request URL (${request.method}: ${url.pathname})` });
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => route(request, response, Buffer.concat(chunks).toString()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    transactions,
    customers,
    behave(next) {
      behavior = next;
    },
    forgetKeys: () => keys.clear(),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
