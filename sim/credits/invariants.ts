import { Violation } from '../history.ts';
import type { Arrival } from '../webhooks/receivers.ts';
import type { StripeServer } from './stripe.ts';

/** The delivery of a credit as PostgreSQL has it. */
export type DeliveryRow = {
  credit: number;
  earned: 'earned' | 'delivered' | 'revoked';
  /** Null: there is none. */
  status: 'pending' | 'delivered' | 'failed' | 'canceled' | null;
  attempts: number | null;
  error: string | null;
};

/** The promotion code of a coupon as PostgreSQL has it. */
export type CodeRow = {
  coupon: string;
  is_deleted: boolean;
  status: string;
  reference: string | null;
  attempts: number;
};

export const DELIVERIES = `SELECT credit.id AS credit, credit.status AS earned, delivery.status,
    delivery.attempts, delivery.error
  FROM grants AS credit LEFT JOIN grant_deliveries AS delivery ON delivery.grant_id = credit.id ORDER BY credit.id`;
export const CODES = `SELECT coupon_id AS coupon, deleted_at IS NOT NULL AS is_deleted, status, reference, attempts
  FROM promotion_codes JOIN coupons ON coupons.id = coupon_id ORDER BY coupon_id`;

/** A delivery, or a promotion code, fails after so many attempts. */
const MOST_ATTEMPTS = 8;

/** Looks at what providers have and what PostgreSQL says of it. */
export class CreditInvariants {
  /** Credits that the shop has marked as delivered by itself. */
  readonly marked = new Set<number>();
  /** The ids under which receivers and Stripe have delivered a credit, by credit. */
  readonly #done = new Map<number, Set<string>>();
  readonly #bodies = new Map<string, string>();
  readonly #stripe: StripeServer;
  #violation: Violation | null = null;

  constructor(stripe: StripeServer) {
    this.#stripe = stripe;
  }

  /** A request has come to the receiver. It delivers whatever it then says, but for a refusal. */
  arrived({ id, body, status }: Arrival): void {
    const before = this.#bodies.get(id);
    if (before !== undefined && before !== body)
      this.#violation ??= new Violation('every attempt sends the same bytes', `${id}: ${before} and ${body}`);
    this.#bodies.set(id, body);
    if (status >= 400 && status < 500) return;
    const { data } = JSON.parse(body) as { data: { id: number } };
    this.#deliveredBy(data.id, `webhook ${id}`);
  }

  #deliveredBy(credit: number, by: string): void {
    const known = this.#done.get(credit) ?? new Set();
    this.#done.set(credit, known.add(by));
  }

  /** @throws {Violation} */
  check(deliveries: readonly DeliveryRow[], codes: readonly CodeRow[]): void {
    for (const [index, { credit }] of this.#stripe.transactions.entries())
      this.#deliveredBy(Number(credit), `Stripe ${index}`);
    if (this.#violation) throw this.#violation;
    for (const [credit, by] of this.#done)
      if (by.size > 1)
        throw new Violation('each credit is delivered once', `credit ${credit} by ${[...by].join(' and ')}`);
    for (const row of deliveries) this.#checkDelivery(row);
    const made = Map.groupBy(this.#stripe.codes, ({ coupon }) => coupon);
    for (const [coupon, all] of made)
      if (all.length > 1)
        throw new Violation(
          'each promotion code is made once',
          `coupon ${coupon} has ${all.map(({ id, active }) => `${id}${active ? '' : ' (ended)'}`).join(' and ')}`,
        );
    for (const { coupon, status, reference } of codes)
      if (status === 'active' && made.get(coupon)?.[0]?.id !== reference)
        throw new Violation('an active promotion code exists', `${reference} of coupon ${coupon}`);
  }

  #checkDelivery({ credit, earned, status }: DeliveryRow): void {
    const isDone = this.#done.has(credit);
    if (status === 'delivered' && !isDone)
      throw new Violation('only what a provider has is delivered', `credit ${credit}`);
    if (earned === 'delivered' && !isDone && !this.marked.has(credit))
      throw new Violation('only what a provider has is delivered', `credit ${credit} is marked`);
    if (earned === 'revoked' && status === 'canceled' && isDone)
      throw new Violation('a revoked credit is not delivered unsaid', `credit ${credit} is canceled`);
  }

  /** What must still happen once the faults have ended; null: nothing. */
  missing(deliveries: readonly DeliveryRow[], codes: readonly CodeRow[]): Violation | null {
    for (const { credit, earned, status, attempts, error } of deliveries) {
      const isTold =
        status === 'failed' && ((attempts ?? 0) >= MOST_ATTEMPTS || error?.includes('was deleted'));
      if (earned === 'earned' && !isTold)
        return new Violation(
          'every credit is delivered once the faults end',
          `credit ${credit} is ${status}`,
        );
      if (earned === 'revoked' && this.#done.has(credit) && status !== 'failed')
        return new Violation('a revoked credit is not delivered unsaid', `credit ${credit} is ${status}`);
      if (status === 'pending')
        return new Violation('every credit is delivered once the faults end', `credit ${credit} waits`);
    }
    for (const { coupon, is_deleted: isDeleted, status, attempts } of codes) {
      const isActive = this.#stripe.codes.some((one) => one.coupon === coupon && one.active);
      if (!isDeleted && status !== 'active' && attempts < MOST_ATTEMPTS)
        return new Violation('every promotion code is made once the faults end', `${coupon} is ${status}`);
      if (!isDeleted && status === 'active' && !isActive)
        return new Violation('an active promotion code exists', `of coupon ${coupon}`);
      if (isDeleted && (status !== 'ended' || isActive) && attempts < MOST_ATTEMPTS)
        return new Violation('the promotion code of a deleted coupon is ended', `${coupon} is ${status}`);
    }
    return null;
  }
}
