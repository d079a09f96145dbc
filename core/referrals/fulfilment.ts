/** How a fulfilment delivers a credit: to the balance of a Stripe customer, or by a signed call. */
export const FULFILMENT_PROVIDERS = ['stripe_balance', 'webhook'] as const;
export type FulfilmentProvider = (typeof FULFILMENT_PROVIDERS)[number];

/** `canceled`: the credit was revoked, or marked delivered by a call, before the first attempt. */
export const GRANT_DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'canceled'] as const;
export type GrantDeliveryStatus = (typeof GRANT_DELIVERY_STATUSES)[number];

/** `type` in the body of a fulfilment's call. */
export const DELIVER_CREDIT = 'credit.deliver';
