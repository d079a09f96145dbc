import { signatureHeaders } from '../../core/webhooks/signature.ts';
import type { Subscription } from '../../sql/webhooks/subscriptions.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { WebhookMetrics } from './metrics.ts';
import { type Outcome, outcomeOfError, outcomeOfReply } from './outcome.ts';
import type { Send } from './send.ts';

/** Delivers a body to a webhook once, within the concurrency limit. Never rejects. */
export type Attempt = (
  webhook: Subscription,
  delivery: { eventId: string; body: string },
) => Promise<Outcome>;

export type AttemptDependencies = {
  send: Send;
  limit: ConcurrencyLimit;
  metrics: WebhookMetrics;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Aborts attempts; those that wait do not begin. */
  signal: AbortSignal;
};

const HEADERS = { 'content-type': 'application/json', 'user-agent': 'Hoplog-Webhooks/1.0' };

export function createAttempt({ send, limit, metrics, now, signal }: AttemptDependencies): Attempt {
  async function once(webhook: Subscription, eventId: string, body: string): Promise<Outcome> {
    if (signal.aborted) return { kind: 'interrupted' };
    const at = now();
    const secrets = webhook.secrets
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > at)
      .map(({ secret }) => secret);
    const headers = { ...HEADERS, ...signatureHeaders(eventId, body, secrets, at) };
    const request = { url: webhook.url, headers };
    const elapsed = metrics.attemptSeconds.startTimer();
    try {
      return outcomeOfReply(request, await send(webhook.url, headers, body, signal), now());
    } catch (error) {
      return signal.aborted ? { kind: 'interrupted' } : outcomeOfError(request, error);
    } finally {
      elapsed();
    }
  }

  return async function attempt(webhook, { eventId, body }) {
    const outcome = await limit.run<Outcome>(
      webhook,
      () => once(webhook, eventId, body),
      () => ({ kind: 'interrupted' }),
    );
    metrics.attempts.inc({ outcome: outcome.kind });
    return outcome;
  };
}
