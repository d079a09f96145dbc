import { storableText } from '../../core/text/storable.ts';
import { RefusedAddress } from '../../core/webhooks/resolve-host.ts';
import { parseRetryAfter, retryWait } from '../../core/webhooks/retry-schedule.ts';
import type { DeliveryState, SentRequest } from '../../sql/webhooks/delivery-queue.ts';
import { codeOf, type Reply } from './send.ts';

/**
 * The outcome of an attempt. `retry`: network errors, and every response but 2xx and 410. `final`: a 410, which also
 * disables the webhook, and a refused address. `interrupted`: the attempt did not begin, or a shutdown cut it off.
 */
export type Outcome = (Attempted & { request: SentRequest | null }) | { kind: 'interrupted' };

type Attempted =
  | { kind: 'delivered'; status: number; body: string }
  | { kind: 'retry'; status: number | null; body: string | null; error: string; retryAfterMs: number | null }
  | { kind: 'final'; status: number | null; body: string | null; error: string };

/** The receiver wants no deliveries any more. */
export const GONE = 410;

/** @param now milliseconds since the epoch */
export function outcomeOfReply(
  request: SentRequest,
  { status, body, retryAfter }: Reply,
  now: number,
): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status, body, request };
  const error = `responded with ${status}`;
  if (status === GONE) return { kind: 'final', status, body, error, request };
  const mayAskToWait = status === 429 || status === 503;
  const retryAfterMs = mayAskToWait ? parseRetryAfter(retryAfter, now) : null;
  return { kind: 'retry', status, body, error, retryAfterMs, request };
}

export function outcomeOfError(request: SentRequest, thrown: unknown): Outcome {
  const error = describe(thrown);
  // Refused before anything was sent.
  if (thrown instanceof RefusedAddress)
    return { kind: 'final', status: null, body: null, error, request: null };
  return { kind: 'retry', status: null, body: null, error, retryAfterMs: null, request };
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // With several addresses each error has its own message.
  if (thrown instanceof AggregateError && thrown.message === '') {
    return thrown.errors.map((error) => describe(error)).join('; ');
  }
  return storableText(thrown.message || codeOf(thrown) || thrown.name);
}

/**
 * Returns the state of a delivery after an attempt.
 *
 * @param before attempts made before this one
 * @param now milliseconds since the epoch
 * @param random from 0 to 1
 */
export function stateAfter(outcome: Outcome, before: number, now: number, random: number): DeliveryState {
  if (outcome.kind === 'interrupted') return pendingState(before, now);
  const attempts = before + 1;
  const attempt = {
    attempts,
    responseStatus: outcome.status,
    responseBody: outcome.body,
    request: outcome.request,
  };
  if (outcome.kind === 'delivered') {
    return { ...attempt, status: 'delivered', error: null, nextAttemptAt: null, deliveredAt: now };
  }
  const failure = { ...attempt, error: outcome.error, deliveredAt: null };
  const wait = outcome.kind === 'retry' ? retryWait(attempts, outcome.retryAfterMs, random) : null;
  if (wait === null) return { ...failure, status: 'failed', nextAttemptAt: null };
  return { ...failure, status: 'pending', nextAttemptAt: now + wait };
}

/** Returns the state of a delivery that waits for an attempt. @param due milliseconds since the epoch */
export function pendingState(attempts: number, due: number): DeliveryState {
  return {
    status: 'pending',
    attempts,
    responseStatus: null,
    responseBody: null,
    error: null,
    request: null,
    nextAttemptAt: due,
    deliveredAt: null,
  };
}
