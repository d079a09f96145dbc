import type { Process, World } from '../world/world.ts';

/** What happens to calls of Stripe: probabilities. */
export type StripeFaults = {
  lostRequests: number;
  lostAnswers: number;
  /** Answered with 500 before anything took effect, and after. Stripe saves both answers under the key. */
  failsBefore: number;
  failsAfter: number;
  /** Comes up to a minute later, when its sender has given up. */
  heldUp: number;
  /** Comes a second time. */
  doubled: number;
  /** Answered with 429, which is not saved. */
  busy: number;
};

export const NO_STRIPE_FAULTS: StripeFaults = {
  lostRequests: 0,
  lostAnswers: 0,
  failsBefore: 0,
  failsAfter: 0,
  heldUp: 0,
  doubled: 0,
  busy: 0,
};

export type StripeCall = { method: string; path: string; body: string; key: string | null };
export type StripeAnswer = { status: number; body: Record<string, unknown> };
type Transaction = { customer: string; amount: number; created: number; credit: string; delivery: string };
export type Code = { id: string; code: string; active: boolean; stripeCoupon: string; coupon: string };

const LONGEST_WAY_MS = 20;
const NOTICED_WITHIN_MS = 300;
const HELD_UP_MS = 60_000;
const FORGETS_KEYS_AFTER_MS = 24 * 3_600_000;

/**
 * The part of Stripe's API that the workers call, in memory, with the rules that Stripe documents: the first answer
 * under an idempotency key is saved for a day, errors included, and repeated; other parameters under the key are
 * refused; a coupon's id and the text of an active code are unique.
 *
 * Sources: https://docs.stripe.com/api/idempotent_requests, https://docs.stripe.com/api/promotion_codes/create
 */
export class StripeServer {
  faults: StripeFaults = { ...NO_STRIPE_FAULTS };
  readonly transactions: Transaction[] = [];
  readonly codes: Code[] = [];
  calls = 0;
  readonly #world: World;
  readonly #process: Process;
  readonly #coupons = new Map<string, string>();
  readonly #customers: { id: string; user: string }[] = [];
  readonly #saved = new Map<string, { at: number; parameters: string; answer: StripeAnswer }>();

  constructor(world: World) {
    this.#world = world;
    this.#process = world.start('Stripe');
  }

  addCustomer(id: string, user: string): void {
    this.#customers.push({ id, user });
  }

  /** Sends a call of the running process. One of `heard` and `lost` follows, or neither. */
  send(call: StripeCall, { heard, lost }: { heard(answer: StripeAnswer): void; lost(): void }): void {
    const world = this.#world;
    const { random, current: sender } = world;
    const { faults } = this;
    const way = () => random.between(0.1, LONGEST_WAY_MS);
    const [isLost, isUnheard] = [random.chance(faults.lostRequests), random.chance(faults.lostAnswers)];
    const isHeldUp = random.chance(faults.heldUp);
    if (isLost) {
      world.schedule(random.between(1, NOTICED_WITHIN_MS), lost, sender);
      return;
    }
    const sentAt = world.trueTime();
    // Machines that stand still for a day take no requests with them: Stripe would have forgotten their keys.
    const isGone = () => world.trueTime() > sentAt + HELD_UP_MS;
    const arrive = () => {
      if (isGone()) {
        world.schedule(0, lost, sender);
        return;
      }
      const answer = this.#answer(call);
      world.note(`Stripe answers ${call.method} ${call.path} ${call.key ?? ''} with ${answer.status}`);
      if (isUnheard) world.schedule(random.between(1, NOTICED_WITHIN_MS), lost, sender);
      else world.schedule(way(), () => heard(answer), sender);
    };
    world.schedule(isHeldUp ? random.between(0, HELD_UP_MS) : way(), arrive, this.#process);
    if (random.chance(faults.doubled))
      world.schedule(random.between(0, HELD_UP_MS), () => !isGone() && this.#answer(call), this.#process);
  }

  #answer(call: StripeCall): StripeAnswer {
    const { random } = this.#world;
    const { faults } = this;
    this.calls += 1;
    if (random.chance(faults.busy)) return problem(429, 'Too many requests.');
    if (call.method === 'GET') return this.#read(call.path);
    const now = this.#world.trueTime();
    const parameters = `${call.path} ${call.body}`;
    const saved = call.key === null ? undefined : this.#saved.get(call.key);
    if (saved && now < saved.at + FORGETS_KEYS_AFTER_MS) {
      if (saved.parameters === parameters) return saved.answer;
      return problem(400, 'Keys can only be used with the same parameters they were first used with.');
    }
    let answer = problem(500, 'An error occurred.');
    if (!random.chance(faults.failsBefore)) {
      const made = this.#make(call.path, new URLSearchParams(call.body));
      if (made.status !== 200 || !random.chance(faults.failsAfter)) answer = made;
    }
    if (call.key !== null) this.#saved.set(call.key, { at: now, parameters, answer });
    return answer;
  }

  #make(path: string, form: URLSearchParams): StripeAnswer {
    const [, customer] = /^\/v1\/customers\/([^/]+)\/balance_transactions$/.exec(path) ?? [];
    if (customer !== undefined) return this.#makeTransaction(customer, form);
    if (path === '/v1/coupons') {
      const id = form.get('id') ?? '';
      if (this.#coupons.has(id)) return problem(400, 'Coupon already exists.');
      this.#coupons.set(id, form.get('metadata[hoplog_coupon_id]') ?? '');
      return { status: 200, body: { id, object: 'coupon' } };
    }
    if (path === '/v1/promotion_codes') return this.#makeCode(form);
    const [, id] = /^\/v1\/promotion_codes\/(.+)$/.exec(path) ?? [];
    const code = this.codes.find((one) => one.id === id);
    if (!code) return problem(404, `No such promotion code: '${id}'`);
    code.active = form.get('active') === 'true';
    return { status: 200, body: shown(code) };
  }

  #makeTransaction(customer: string, form: URLSearchParams): StripeAnswer {
    if (!this.#customers.some(({ id }) => id === customer))
      return problem(404, `No such customer: '${customer}'`);
    const made = {
      customer,
      amount: Number(form.get('amount')),
      created: Math.floor(this.#world.trueTime() / 1_000),
      credit: form.get('metadata[hoplog_credit_id]') ?? '',
      delivery: form.get('metadata[hoplog_delivery_id]') ?? '',
    };
    this.transactions.push(made);
    return { status: 200, body: this.#transaction(made) };
  }

  #transaction(made: Transaction): Record<string, unknown> {
    const { amount, created, credit, delivery } = made;
    const id = `cbtxn_${this.transactions.indexOf(made)}`;
    const metadata = { hoplog_credit_id: credit, hoplog_delivery_id: delivery };
    return { id, object: 'customer_balance_transaction', amount, currency: 'usd', created, metadata };
  }

  #makeCode(form: URLSearchParams): StripeAnswer {
    const code = form.get('code') ?? '';
    const stripeCoupon = form.get('promotion[coupon]') ?? '';
    if (!this.#coupons.has(stripeCoupon)) return problem(404, `No such coupon: '${stripeCoupon}'`);
    if (this.codes.some((one) => one.active && one.code === code))
      return problem(400, 'An active promotion code with this `code` already exists.');
    const coupon = form.get('metadata[hoplog_coupon_id]') ?? '';
    const made = { id: `promo_${this.codes.length}`, code, active: true, stripeCoupon, coupon };
    this.codes.push(made);
    return { status: 200, body: shown(made) };
  }

  #read(path: string): StripeAnswer {
    const { pathname, searchParams: query } = new URL(path, 'https://stripe.example');
    const [, coupon] = /^\/v1\/coupons\/(.+)$/.exec(pathname) ?? [];
    if (coupon !== undefined)
      return this.#coupons.has(coupon)
        ? { status: 200, body: { id: coupon, object: 'coupon' } }
        : problem(404, `No such coupon: '${coupon}'`);
    const [, customer] = /^\/v1\/customers\/([^/]+)\/balance_transactions$/.exec(pathname) ?? [];
    if (customer !== undefined) {
      const since = Number(query.get('created[gte]') ?? 0);
      const found = this.transactions.filter((one) => one.customer === customer && one.created >= since);
      return list(found.toReversed().map((one) => this.#transaction(one)));
    }
    if (pathname === '/v1/customers/search') {
      const [, user] = /'([^']*)'$/.exec(query.get('query') ?? '') ?? [];
      return list(this.#customers.filter((one) => one.user === user).map(({ id }) => ({ id })));
    }
    return list(this.codes.filter((one) => one.active && one.code === query.get('code')).map(shown));
  }
}

const problem = (status: number, message: string): StripeAnswer => ({
  status,
  body: { error: { type: status >= 500 ? 'api_error' : 'invalid_request_error', message } },
});

const list = (data: unknown[]): StripeAnswer => ({
  status: 200,
  body: { object: 'list', data, has_more: false, url: '/v1/list' },
});

const shown = ({ id, code, active, stripeCoupon }: Code) => ({
  id,
  object: 'promotion_code',
  code,
  active,
  promotion: { type: 'coupon', coupon: stripeCoupon },
});
