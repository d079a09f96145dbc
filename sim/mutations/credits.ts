import type { WrongVersion } from './list.ts';

const STRIPE = 'workers/fulfilments/stripe.ts';
const SETTLE = 'workers/fulfilments/settle.ts';
const DELIVERIES = 'sql/fulfilments/grant-deliveries.ts';
const MADE = 'core/connections/stripe/promotion-code.ts';
const CODES = 'sql/connections/promotion-codes.ts';

/** Wrong versions of the deliveries of credits, and of promotion codes, one line each. */
export const CREDIT_MUTATIONS: readonly WrongVersion[] = [
  {
    name: 'stripe-key-new-at-a-retry',
    wrong: 'each attempt to deliver a credit has an idempotency key of its own',
    file: STRIPE,
    from: `return refusals === 0 ? key : \`\${key}-\${refusals}\`;`,
    to: `return \`\${key}-\${refusals}-\${Date.now()}\`;`,
  },
  {
    name: 'stripe-not-searched',
    wrong: 'an attempt does not look for what an earlier one has done',
    file: STRIPE,
    from: 'if (found) return delivered(found);',
    to: '',
  },
  {
    name: 'customer-not-noted',
    wrong: 'an attempt does not record the customer that it pays',
    file: STRIPE,
    from: ': await noteCustomer(pool, claimed.id, await customerOf(stripe, fulfilment, grant.external_user_id));',
    to: `: { customer: await customerOf(stripe, fulfilment, grant.external_user_id), isFirst: true };
      void noteCustomer;`,
  },
  {
    name: 'customer-replaced-late',
    wrong: 'an attempt whose claim is over replaces the customer that the next attempt has recorded',
    file: 'sql/fulfilments/delivery-queue.ts',
    from: 'SET customer = coalesce(known.customer, $2)',
    to: 'SET customer = coalesce($2, known.customer)',
  },
  {
    name: 'late-refusal-counts',
    wrong: 'an attempt whose claim is over says that nothing was delivered, although another one has begun',
    file: 'sql/fulfilments/delivery-queue.ts',
    from: '$11 AND attempt_ends_at IS NOT DISTINCT FROM to_timestamp($12::float8 / 1000) AS is_certain',
    to: '$11 AND $12::float8 > 0 AS is_certain',
  },
  {
    name: 'error-counts-as-refusal',
    wrong: 'a 500 means that Stripe has done nothing',
    file: STRIPE,
    from: 'status < SERVER_ERROR && !SAYS_NOTHING.has(status)',
    to: 'status < SERVER_ERROR + 100 && !SAYS_NOTHING.has(status)',
  },
  {
    name: 'rate-limit-is-refusal',
    wrong: 'a 429 means that Stripe has done nothing, also for what was sent before it',
    file: STRIPE,
    from: 'new Set([CONFLICT, RATE_LIMITED])',
    to: 'new Set([CONFLICT])',
  },
  {
    name: 'lost-answer-is-refusal',
    wrong: 'no answer means that Stripe has done nothing',
    file: STRIPE,
    from: '!isCalled || (status !== null &&',
    to: 'status === null || (status !== null &&',
  },
  {
    name: 'claim-leaves-no-doubt',
    wrong: 'a claim does not record that its attempt may deliver',
    file: 'sql/deliveries/queue.ts',
    from: ', uncertain_since = coalesce(delivery.uncertain_since, clock.now)`',
    to: '`',
  },
  {
    name: 'credit-id-new-at-a-retry',
    wrong: 'each attempt to deliver a credit has an id of its own',
    file: 'workers/fulfilments/fulfilments.ts',
    from: 'return dependencies.attempt(webhook, { eventId: claimed.id, body });',
    to: `return dependencies.attempt(webhook, { eventId: \`\${claimed.id}\${claimed.attempts}\`, body });`,
  },
  {
    name: 'delivered-not-marked',
    wrong: 'a delivered credit stays earned in the ledger',
    file: SETTLE,
    from: 'await markDelivered(tx, fulfilment.workspaceId, grant.id, new Date(now));',
    to: '',
  },
  {
    name: 'credit-settled-in-parts',
    wrong: 'the mark and the outcome of a delivery are not one transaction',
    file: 'workers/fulfilments/fulfilments.ts',
    from: 'inTransaction(pool, async (tx) => {',
    to: 'Promise.resolve(pool).then(async (tx) => {',
  },
  {
    name: 'uncertain-delivery-canceled',
    wrong: 'a revoked credit that may have been delivered is canceled',
    file: DELIVERIES,
    from: "((status IN ('pending', 'failed') AND uncertain_since IS NULL) OR",
    to: "((status IN ('pending', 'failed')) OR",
  },
  {
    name: 'uncertain-revocation-unsaid',
    isRare: true,
    wrong: 'a worker does not tell that a revoked credit may have been delivered',
    file: SETTLE,
    from: 'if (claimed.uncertainSince === null)\n    return { ...end',
    to: 'if (claimed.id)\n    return { ...end',
  },
  {
    name: 'taken-over-by-other-provider',
    isRare: true,
    wrong: 'a new fulfilment delivers what one by another provider may have delivered',
    file: DELIVERIES,
    from: 'AND (known.uncertain_since IS NULL OR former.provider = $5))`',
    to: "AND (known.uncertain_since IS NULL OR $5 <> ''))`",
  },
  {
    name: 'grant-not-queued',
    isRare: true,
    wrong: 'a credit that is earned is not queued for its delivery',
    file: 'sql/referrals/grants.ts',
    from: 'if (!revoked) await queueGrantDelivery(tx, rows[0], now);',
    to: '',
  },
  {
    name: 'code-new-at-a-retry',
    isRare: true,
    wrong: 'an attempt after an error makes another promotion code',
    file: MADE,
    from: 'const coupon = stripeCouponId(wanted.id);',
    to: `const coupon = stripeCouponId(\`\${wanted.id}-\${refusals}\`);`,
  },
  {
    name: 'made-code-not-found',
    isRare: true,
    wrong: 'an attempt does not look for the promotion code that an earlier one has made',
    file: MADE,
    from: '() => activeCode(stripe, coupon, code),',
    to: 'async () => null,',
  },
  {
    name: 'look-up-error-is-final',
    wrong: 'a coupon that could not be looked up counts as missing, and its code as refused',
    file: MADE,
    from: 'statusCode !== NOT_FOUND) throw error;',
    to: 'statusCode === 0) throw error;',
  },
  {
    name: 'unknown-code-not-ended',
    isRare: true,
    wrong: 'the code of a deleted coupon is not looked for when its id is not known',
    file: MADE,
    from: 'reference ?? (await activeCode(stripe, stripeCouponId(wanted.id), wanted.code))?.id ?? null;',
    to: 'reference ?? null;',
  },
  {
    name: 'code-ended-while-made',
    isRare: true,
    wrong: 'a code is ended while an attempt makes it',
    file: CODES,
    from: 'next_attempt_at = GREATEST(attempt_ends_at, $2)',
    to: 'next_attempt_at = GREATEST(NULL, $2)',
  },
  {
    name: 'deleted-code-made-active',
    isRare: true,
    wrong: 'an attempt does not see that its coupon was deleted meanwhile',
    file: CODES,
    from: 'WHERE id = $1 AND status = $2 AND attempts = $3`',
    to: "WHERE id = $1 AND $2 <> '' AND $3 >= 0`",
  },
];
