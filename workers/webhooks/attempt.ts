import type { Span, Tracing } from '../../core/tier/tracing.ts';
import { formatBody, formatUrl } from '../../core/webhooks/formats.ts';
import { receiverOfUrl } from '../../core/webhooks/receiver.ts';
import { signatureHeaders } from '../../core/webhooks/signature.ts';
import type { Subscription } from '../../sql/webhooks/subscriptions.ts';
import type { ConcurrencyLimit, Hook } from './concurrency-limit.ts';
import type { WebhookMetrics } from './metrics.ts';
import { type Outcome, outcomeOfError, outcomeOfReply } from './outcome.ts';
import type { Send } from './send.ts';

/** The target of an attempt: a webhook, or a fulfilment by webhook. */
export type Callee = Pick<Subscription, 'id' | 'workspaceId' | 'url' | 'secrets' | 'format'>;

/** Delivers an event to a webhook once, in its format, within the concurrency limit. Never rejects. */
export type Attempt = (webhook: Callee, delivery: { eventId: string; body: string }) => Promise<Outcome>;

export type AttemptDependencies = {
  send: Send;
  limit: ConcurrencyLimit;
  metrics: WebhookMetrics;
  tracing: Tracing;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Aborts attempts; those that wait do not begin. */
  signal: AbortSignal;
};

const AGENT = { 'user-agent': 'Hoplog-Webhooks/1.0' };

export function createAttempt({ send, limit, metrics, tracing, now, signal }: AttemptDependencies): Attempt {
  async function once(webhook: Callee, eventId: string, event: string): Promise<Outcome> {
    if (signal.aborted) return { kind: 'interrupted' };
    const body = formatBody(webhook.format, event);
    const at = now();
    const secrets = webhook.secrets
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > at)
      .map(({ secret }) => secret);
    const span = tracing.start('deliver webhook', {
      kind: 'client',
      attributes: { 'hoplog.webhook_id': webhook.id, 'hoplog.event_id': eventId },
    });
    const isGet = webhook.format === 'get';
    const { 'webhook-signature': signature, ...named } = signatureHeaders(eventId, body, secrets, at);
    const headers = {
      ...(!isGet && { 'content-type': 'application/json' }),
      ...AGENT,
      ...named,
      ...(!isGet && { 'webhook-signature': signature }),
      ...(span.traceparent && { traceparent: span.traceparent }),
    };
    // The log has a URL with its placeholders: what fills them is in the event, and is erased there.
    const request = { url: webhook.url, headers };
    const elapsed = metrics.attemptSeconds.startTimer();
    const outcome = await send(formatUrl(webhook, event), headers, isGet ? null : body, signal).then(
      (reply) => outcomeOfReply(request, reply, now()),
      (error: unknown): Outcome =>
        signal.aborted ? { kind: 'interrupted' } : outcomeOfError(request, error),
    );
    elapsed();
    describe(span, outcome);
    return outcome;
  }

  return async function attempt(webhook, { eventId, body }) {
    const outcome = await limit.run<Outcome>(
      hookOf(webhook),
      () => once(webhook, eventId, body),
      () => ({ kind: 'interrupted' }),
    );
    metrics.attempts.inc({ outcome: outcome.kind });
    return outcome;
  };
}

/** Ends the span of an attempt with its outcome. */
function describe(span: Span, outcome: Outcome): void {
  span.set({ 'hoplog.outcome': outcome.kind });
  if (outcome.kind !== 'interrupted' && outcome.status !== null)
    span.set({ 'http.response.status_code': outcome.status });
  if (outcome.kind === 'retry' || outcome.kind === 'final') span.fail(outcome.error);
  span.end();
}

/**
 * Returns the hook under which the concurrency limit counts a webhook. All webhooks of a workspace at one host share
 * the host's slots, so many webhooks get no more than one.
 */
export function hookOf({ id, workspaceId, url }: Pick<Subscription, 'id' | 'workspaceId' | 'url'>): Hook {
  return { id, host: `${workspaceId} ${receiverOfUrl(url)?.host ?? url}`, workspaceId };
}
