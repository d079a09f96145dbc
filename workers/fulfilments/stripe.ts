import type Stripe from 'stripe';
import { openStripe } from '../../core/connections/stripe/client.ts';
import { stripeAmount } from '../../core/connections/stripe/stripe-amount.ts';
import { toCredits } from '../../core/referrals/credits.ts';
import { parseRetryAfter } from '../../core/webhooks/retry-schedule.ts';
import { createConnectionSealer } from '../../sql/connections/sealer.ts';
import type { Pool } from '../../sql/database/pool.ts';
import {
  type ClaimedGrantDelivery,
  type DueFulfilment,
  noteCustomer,
} from '../../sql/fulfilments/delivery-queue.ts';
import { createFulfilmentSealer } from '../../sql/fulfilments/sealer.ts';
import { stripeKeyOf, tiedStripeCustomer } from '../../sql/fulfilments/stripe-account.ts';
import type { Grant } from '../../sql/referrals/grants.ts';
import type { ConcurrencyLimit, Hook } from '../webhooks/concurrency-limit.ts';
import type { FulfilmentOutcome } from './outcome.ts';

export type StripeFulfilment = Extract<DueFulfilment, { provider: 'stripe_balance' }>;

/** Delivers a credit to the balance of its user's Stripe customer. Never rejects. */
export type StripeAttempt = (
  fulfilment: StripeFulfilment,
  claimed: ClaimedGrantDelivery,
  grant: Grant,
) => Promise<FulfilmentOutcome>;

/** Name of the metadata of a balance transaction that holds the delivery's id. */
const DELIVERY_METADATA = 'hoplog_delivery_id';
/** A clock here may be ahead of Stripe's. Seconds. */
const SKEW_S = 3_600;
const DELIVERED = 200;
const TIMEOUT_MS = 10_000;

/**
 * Makes one transaction for each grant, even when a process ends between the call and the record of it:
 *
 * - Every attempt sends the same idempotency key, so Stripe makes one transaction, and a late attempt gets the response
 *   of the first. A new key is used only when Stripe refused all attempts under the former one: it saves refusals too.
 * - Stripe forgets keys after 24 hours, which is less than the schedule. So an attempt that follows one whose outcome
 *   is unknown looks for its transaction first, by its metadata, at the customer of that attempt. That customer stays
 *   until the outcome is known: the user may have another one meanwhile, and an attempt may come after its claim.
 *
 * Source: https://docs.stripe.com/api/idempotent_requests
 */
export function createStripeAttempt(dependencies: {
  pool: Pool;
  /** Origin of the API. */
  apiBase: string;
  limit: ConcurrencyLimit;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Aborts attempts; those that wait do not begin. */
  signal: AbortSignal;
}): StripeAttempt {
  const { pool, apiBase, limit, now, signal } = dependencies;
  const keys = { fulfilments: createFulfilmentSealer(pool), connections: createConnectionSealer(pool) };

  async function once(
    fulfilment: StripeFulfilment,
    claimed: ClaimedGrantDelivery,
    grant: Grant,
  ): Promise<FulfilmentOutcome> {
    if (signal.aborted) return { kind: 'interrupted' };
    const { currency } = fulfilment;
    const amount = stripeAmount(grant.amount, fulfilment.creditValue, currency);
    if (amount === 0) return notSent(`${toCredits(grant.amount)} credits are worth no money in ${currency}`);
    let isCalled = false;
    try {
      const key = await stripeKeyOf(pool, fulfilment, keys);
      if (key === null) return notSent('no restricted key: set `settings.restricted_key`');
      const stripe = await openStripe(key, apiBase, TIMEOUT_MS);
      const before = claimed.uncertainSince;
      const known = before && claimed.customer;
      const { customer, isFirst } = known
        ? { customer: known, isFirst: false }
        : await noteCustomer(pool, claimed.id, await customerOf(stripe, fulfilment, grant.external_user_id));
      if (!isFirst) {
        const found = await findTransaction(stripe, customer, claimed.id, before ?? grant.created_at);
        if (found) return delivered(found);
      }
      isCalled = true;
      const made = await stripe.customers.createBalanceTransaction(
        customer,
        {
          amount: -amount,
          currency,
          description: `${toCredits(grant.amount)} ${grant.credit_kind}`,
          metadata: { [DELIVERY_METADATA]: claimed.id, hoplog_credit_id: String(grant.id) },
        },
        { idempotencyKey: idempotencyKey(claimed) },
      );
      return delivered(made);
    } catch (error) {
      return outcomeOfStripeError(error, isCalled, now());
    }
  }

  async function customerOf(
    stripe: Stripe,
    { workspaceId }: StripeFulfilment,
    user: string,
  ): Promise<string> {
    return (await tiedStripeCustomer(pool, workspaceId, user)) || findCustomer(stripe, user);
  }

  return (fulfilment, claimed, grant) =>
    limit.run<FulfilmentOutcome>(
      stripeHook(fulfilment),
      () => untilAborted(once(fulfilment, claimed, grant), signal),
      () => ({ kind: 'interrupted' }),
    );
}

/** Returns the idempotency key of a grant. */
function idempotencyKey({ id, grantId, refusals }: ClaimedGrantDelivery): string {
  const key = `hoplog-credit-${grantId}-${id}`;
  return refusals === 0 ? key : `${key}-${refusals}`;
}

class NoCustomer extends Error {}

/**
 * Returns the Stripe customer of a user that no event tied to one: the one whose metadata `hoplog_user_id` names the
 * user.
 *
 * @throws NoCustomer when there is none, or more than one
 */
async function findCustomer(stripe: Stripe, externalUserId: string): Promise<string> {
  const text = externalUserId.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  const { data } = await stripe.customers.search({ query: `metadata['hoplog_user_id']:'${text}'`, limit: 2 });
  const [first] = data;
  if (!first) throw new NoCustomer(`no Stripe customer belongs to user ${externalUserId}`);
  if (data.length > 1) throw new NoCustomer(`several Stripe customers belong to user ${externalUserId}`);
  return first.id;
}

/** Returns the transaction of an earlier attempt, or null. */
async function findTransaction(
  stripe: Stripe,
  customer: string,
  deliveryId: string,
  since: Date,
): Promise<Stripe.CustomerBalanceTransaction | null> {
  const from = Math.floor(since.getTime() / 1_000) - SKEW_S;
  const page = { limit: 100, created: { gte: from } };
  for await (const one of stripe.customers.listBalanceTransactions(customer, page)) {
    if (one.metadata?.[DELIVERY_METADATA] === deliveryId) return one;
  }
  return null;
}

function delivered(made: Stripe.CustomerBalanceTransaction): FulfilmentOutcome {
  const { id, amount, currency, ending_balance } = made;
  const body = JSON.stringify({ id, amount, currency, ending_balance });
  return { kind: 'delivered', status: DELIVERED, body, request: null, reference: id };
}

function notSent(error: string): FulfilmentOutcome {
  return {
    kind: 'retry',
    status: null,
    body: null,
    error,
    retryAfterMs: null,
    request: null,
    isRefused: true,
  };
}

const CONFLICT = 409;
const RATE_LIMITED = 429;
const SERVER_ERROR = 500;
/**
 * Another request with this key is under way; or Stripe has not looked at the key, so that it takes a copy of the
 * request that a proxy sends again.
 */
const SAYS_NOTHING: ReadonlySet<number> = new Set([CONFLICT, RATE_LIMITED]);

/** @param isCalled whether the call that makes the transaction was sent */
function outcomeOfStripeError(error: unknown, isCalled: boolean, now: number): FulfilmentOutcome {
  const { statusCode, raw, headers } = error as Partial<Stripe.errors.StripeError>;
  const status = statusCode ?? null;
  const isRefused =
    !isCalled || (status !== null && status >= 400 && status < SERVER_ERROR && !SAYS_NOTHING.has(status));
  const message = error instanceof Error ? error.message : String(error);
  return {
    kind: 'retry',
    status,
    body: status === null ? null : JSON.stringify(raw ?? null),
    error: status === null ? message : `responded with ${status}: ${message}`,
    retryAfterMs:
      status === RATE_LIMITED || status === 503 ? parseRetryAfter(headers?.['retry-after'], now) : null,
    request: null,
    isRefused,
  };
}

/** Resolves with an interrupted outcome when the signal aborts first: the package takes no signal. */
function untilAborted(work: Promise<FulfilmentOutcome>, signal: AbortSignal): Promise<FulfilmentOutcome> {
  return new Promise((resolve) => {
    const abort = () => resolve({ kind: 'interrupted' });
    signal.addEventListener('abort', abort, { once: true });
    void work.then((outcome) => {
      signal.removeEventListener('abort', abort);
      resolve(outcome);
    });
  });
}

/**
 * Returns the hook under which the concurrency limit counts a fulfilment by Stripe: all of a workspace's share one
 * host.
 */
export function stripeHook({ id, workspaceId }: Pick<DueFulfilment, 'id' | 'workspaceId'>): Hook {
  return { id, host: `${workspaceId} stripe`, workspaceId };
}
