export { type ErrorDetail, HoplogError } from './errors.ts';
export type * from './generated/types.ts';
export { type ClicksWithFeeds, Hoplog, type HoplogOptions } from './hoplog.ts';
export type { List } from './list.ts';
export type { LiveOptions } from './live.ts';
export type { RequestOptions } from './operation.ts';
export type { Poll, PollBatch, PollOptions, PollState } from './poll.ts';
export { verifyWebhook, type WebhookHeaders, WebhookVerificationError } from './webhooks.ts';
