import type { GrantDeliveryState } from '../../sql/fulfilments/delivery-queue.ts';
import { type Outcome, stateAfter } from '../webhooks/outcome.ts';

/** Characters of a response that are stored: a row stays as long as its grant. */
const BODY_CHARACTERS = 4_096;

/** The outcome of an attempt to deliver a credit. */
export type FulfilmentOutcome = Outcome & {
  /** Stripe's id of the object that the attempt created. */
  reference?: string;
  /** Whether the attempt certainly did not deliver. By default the status decides. */
  isRefused?: boolean;
};

/**
 * Returns whether an attempt certainly did not deliver. A receiver may deliver and then fail to respond; a status from
 * 400 to 499 means that it did not.
 */
function isRefused(outcome: Exclude<FulfilmentOutcome, { kind: 'interrupted' | 'delivered' }>): boolean {
  if (outcome.isRefused !== undefined) return outcome.isRefused;
  // Nothing was sent.
  if (outcome.request === null) return true;
  return outcome.status !== null && outcome.status >= 400 && outcome.status < 500;
}

/**
 * Returns the state of a delivery after an attempt, by the schedule of webhooks.
 *
 * @param before attempts before this one
 * @param now milliseconds since the epoch
 * @param random from 0 to 1
 */
export function grantStateAfter(
  outcome: Exclude<FulfilmentOutcome, { kind: 'interrupted' }>,
  before: number,
  now: number,
  random: number,
): GrantDeliveryState {
  const { request: _, ...state } = stateAfter(outcome, before, now, random);
  return {
    ...state,
    responseBody: state.responseBody?.slice(0, BODY_CHARACTERS) ?? null,
    reference: outcome.reference ?? null,
    isRefused: outcome.kind !== 'delivered' && isRefused(outcome),
  };
}
