import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stripeObject } from '../../core/connections/stripe/fixtures/events.ts';

type Json = Record<string, unknown>;
type Behavior =
  | 'work'
  /** Creates the object, and closes the connection instead of responding. */
  | 'lose-response'
  /** Fails before an object is created, and saves that response under the key, as Stripe does. */
  | { status: number; message: string };

/**
 * A local stand-in for the coupons and promotion codes of Stripe's API, with the rules that Stripe documents: a
 * coupon's id and an active code's text are unique (https://docs.stripe.com/api/promotion_codes/create), and the first
 * response under an idempotency key is saved and repeated (https://docs.stripe.com/api/idempotent_requests). Objects
 * have the fields of Stripe's published fixtures.
 */
export type StripePromotions = {
  origin: string;
  /** Calls that create objects: path, key, and body. */
  made: { path: string; idempotencyKey: string | null; sent: Record<string, string> }[];
  coupons: Json[];
  codes: Json[];
  authorizations: Set<string>;
  /** @param of part of the paths with this behavior; others work */
  behave(behavior: Behavior, of?: string): void;
  /** Called with each call before it takes effect. `lose`: the connection is closed instead. */
  before: (method: string, path: string) => Promise<'lose' | 'continue'>;
  /** Forgets the keys, as Stripe does after 24 hours. */
  forgetKeys(): void;
  close(): Promise<void>;
};

export async function startStripePromotions(): Promise<StripePromotions> {
  const made: StripePromotions['made'] = [];
  const coupons: Json[] = [];
  const codes: Json[] = [];
  const authorizations = new Set<string>();
  const saved = new Map<string, { status: number; body: unknown }>();
  let behavior: Behavior = 'work';
  let behaves = '';

  const problem = (status: number, message: string, code?: string) => ({
    status,
    body: { error: { type: 'invalid_request_error', message, ...(code && { code }) } },
  });

  function make(path: string, form: URLSearchParams): { status: number; body: unknown } {
    const { metadata, fields } = read(form);
    if (path === '/v1/coupons') {
      if (coupons.some(({ id }) => id === fields.id))
        return problem(400, 'Coupon already exists.', 'resource_already_exists');
      const coupon = { object: 'coupon', ...fields, metadata };
      coupons.push(coupon);
      return { status: 200, body: coupon };
    }
    const [, named] = /^\/v1\/promotion_codes\/(.+)$/.exec(path) ?? [];
    if (named !== undefined) {
      const code = codes.find(({ id }) => id === named);
      if (!code) return problem(404, `No such promotion code: '${named}'`, 'resource_missing');
      code.active = fields.active === 'true';
      return { status: 200, body: code };
    }
    const text = fields.code ?? '';
    const coupon = fields['promotion[coupon]'];
    if (!coupons.some(({ id }) => id === coupon))
      return problem(404, `No such coupon: '${coupon}'`, 'resource_missing');
    if (codes.some((code) => code.active && String(code.code).toLowerCase() === text.toLowerCase()))
      return problem(400, `An active promotion code with \`code: ${text}\` already exists.`);
    const code = stripeObject('promotion_code', {
      id: `promo_${codes.length + 1}`,
      active: true,
      code: text,
      promotion: { type: 'coupon', coupon },
      metadata,
    });
    codes.push(code);
    return { status: 200, body: code };
  }

  function retrieve(id: string) {
    const coupon = coupons.find((one) => one.id === id);
    return coupon
      ? { status: 200, body: coupon }
      : problem(404, `No such coupon: '${id}'`, 'resource_missing');
  }

  function list(query: URLSearchParams) {
    const data = codes.filter(
      ({ code, active }) =>
        String(code).toLowerCase() === query.get('code')?.toLowerCase() &&
        String(active) === query.get('active'),
    );
    return { object: 'list', data, has_more: false, url: '/v1/promotion_codes' };
  }

  function post(response: ServerResponse, path: string, body: string, key: string | null): void {
    const form = new URLSearchParams(body);
    made.push({ path, idempotencyKey: key, sent: Object.fromEntries(form) });
    const here: Behavior = path.includes(behaves) ? behavior : 'work';
    const id = `${path} ${key}`;
    const answer =
      (key === null ? undefined : saved.get(id)) ??
      (typeof here === 'object' ? problem(here.status, here.message) : make(path, form));
    if (key !== null) saved.set(id, answer);
    if (here === 'lose-response') return void response.destroy();
    send(response, answer.status, answer.body);
  }

  const server = createServer((request, response) => {
    const { method = '', headers, url = '' } = request;
    authorizations.add(headers.authorization ?? '');
    const { pathname, searchParams } = new URL(url, 'http://stripe');
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      if ((await promotions.before(method, pathname)) === 'lose') return void response.destroy();
      const [, coupon] = /^\/v1\/coupons\/(.+)$/.exec(pathname) ?? [];
      if (method === 'GET' && coupon !== undefined) {
        const { status, body } = retrieve(coupon);
        return send(response, status, body);
      }
      if (method === 'GET') return send(response, 200, list(searchParams));
      const key = headers['idempotency-key']?.toString() ?? null;
      return post(response, pathname, Buffer.concat(chunks).toString(), key);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const promotions: StripePromotions = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    made,
    coupons,
    codes,
    authorizations,
    behave(next, of = '') {
      behavior = next;
      behaves = of;
    },
    before: async () => 'continue',
    forgetKeys: () => saved.clear(),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return promotions;
}

const send = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

function read(form: URLSearchParams): { fields: Record<string, string>; metadata: Record<string, string> } {
  const fields: Record<string, string> = {};
  const metadata: Record<string, string> = {};
  for (const [name, value] of form) {
    const [, of] = /^metadata\[(.+)\]$/.exec(name) ?? [];
    if (of === undefined) fields[name] = value;
    else metadata[of] = value;
  }
  return { fields, metadata };
}
