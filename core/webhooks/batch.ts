// Browsers run this file too.
/** Clicks are delivered together, once there are `max`, or the oldest has waited for `seconds`. */
export type WebhookBatch = { max: number; seconds: number };

/** The type of a delivery of clicks together. Its `data` is an array. */
export const CLICK_BATCH = 'click.created.batch';
