import { setTimeout as delay } from 'node:timers/promises';
import { mailRetryWait } from '../../core/mail/retry-schedule.ts';
import { storableText } from '../../core/text/storable.ts';
import type { Logger } from '../../core/tier/log.ts';
import { RefusedAddress } from '../../core/webhooks/resolve-host.ts';
import { parseRetryAfter } from '../../core/webhooks/retry-schedule.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { CHAT_MESSAGES, releaseClaims } from '../../sql/deliveries/queue.ts';
import {
  type ChatMessageState,
  type ClaimedChatMessage,
  saveChatMessage,
} from '../../sql/reports/chat-messages.ts';
import { createFewAtOnce } from '../deliveries/few-at-once.ts';
import type { IdlePause } from '../idle-pause.ts';
import { startJob } from '../jobs/job.ts';
import type { Waiting } from '../jobs/waiting.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { createRetry } from '../retry.ts';
import type { Reply, Sender } from '../webhooks/send.ts';

export type ChatDependencies = {
  pool: Pool;
  log: Logger;
  metrics: WorkerMetrics;
  waits: Waiting;
  pause: IdlePause;
  /** Connects to allowed addresses only. It is closed with the poster. */
  sender: Sender;
  now?: () => number;
  /** For tests: called at each step of each message. */
  onStep?: (step: 'claimed' | 'answered') => void;
};

const EVERY_MS = 500;
/** Messages under way at once. */
const MOST = 5;
/** Longer than an attempt of `sender`. Milliseconds. */
const CHAT_LEASE_MS = 60_000;
const LATE = 'it was not posted in time';
/** Characters of a response that are shown. */
const MOST_SHOWN = 200;

/**
 * Posts messages to chats. A worker that ends after the claim leaves the message to the next one. One that ends after the
 * response has posted it, and it is posted again: an incoming webhook takes no id.
 */
export function startChat(dependencies: ChatDependencies): { stop(withinMs: number): Promise<void> } {
  const { pool, metrics, waits, pause, sender, now = Date.now, onStep = () => undefined } = dependencies;
  const log = dependencies.log.child({ part: 'chat' });
  const cutOff = new AbortController();
  const retry = createRetry({ log, metrics, signal: cutOff.signal, isFinal: () => false });

  async function deliver(message: ClaimedChatMessage): Promise<void> {
    onStep('claimed');
    const headers = { 'content-type': 'application/json', 'user-agent': 'Hoplog/1.0' };
    const isLate = message.expiresAt.getTime() <= now();
    const sent = isLate
      ? Promise.reject(new Error(LATE))
      : sender.send(message.address, headers, message.body, cutOff.signal);
    const reply = await sent.catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    );
    onStep('answered');
    if (cutOff.signal.aborted && reply instanceof Error)
      return releaseClaims(pool, CHAT_MESSAGES, [{ id: message.id, before: message.attempts }], now());
    const state = stateAfter(reply, message, now(), Math.random());
    const settle = () => saveChatMessage(pool, message, state);
    await settle().catch(() => retry('settle_chat_message', settle));
    if (state.error !== null)
      log.warn({ message: message.id, status: state.status }, 'a chat did not take a message');
  }

  const deliverer = createFewAtOnce<Omit<ClaimedChatMessage, 'id' | 'target'>>(
    { pool, now },
    {
      queue: CHAT_MESSAGES,
      most: MOST,
      leaseMs: CHAT_LEASE_MS,
      deliver: (message) =>
        deliver(message).catch((error: unknown) => {
          log.warn({ err: error, message: message.id }, 'lost the outcome of a message; it is posted again');
        }),
      onEnd: () => posting.wake(),
    },
  );

  const posting = startJob({
    name: 'chat_messages',
    everyMs: () => pause.ms(EVERY_MS),
    log,
    metrics,
    work: async (isWoken) => (isWoken || (await waits('chatMessages'))) && deliverer.attemptDue(),
  });
  return {
    async stop(withinMs) {
      await posting.stop();
      await Promise.race([deliverer.settled(), delay(withinMs)]);
      cutOff.abort();
      await deliverer.settled();
      sender.close();
    },
  };
}

/** Statuses of a client's fault that pass: a time limit, and too many messages. */
const PASSING = new Set([408, 429]);

/** Returns whether a chat refuses a message for good, such as for a webhook that was deleted. */
const isRefusal = ({ status }: Reply) => status >= 400 && status < 500 && !PASSING.has(status);

/**
 * Returns the state of a message after an attempt.
 *
 * @param now milliseconds since the epoch
 * @param random from 0 to 1
 */
function stateAfter(
  reply: Reply | Error,
  { attempts: before, expiresAt }: Pick<ClaimedChatMessage, 'attempts' | 'expiresAt'>,
  now: number,
  random: number,
): ChatMessageState {
  const attempts = before + 1;
  if (!(reply instanceof Error) && reply.status >= 200 && reply.status < 300)
    return { status: 'delivered', attempts, error: null, nextAttemptAt: null, deliveredAt: now };
  const isFinal = reply instanceof Error ? reply instanceof RefusedAddress : isRefusal(reply);
  const asked = reply instanceof Error ? null : parseRetryAfter(reply.retryAfter, now);
  const next = now + Math.max(mailRetryWait(attempts, random), asked ?? 0);
  const error = storableText(
    reply instanceof Error
      ? reply.message
      : `responded with ${reply.status}: ${reply.body.slice(0, MOST_SHOWN)}`,
  );
  const failure = { attempts, error, deliveredAt: null };
  return isFinal || next >= expiresAt.getTime()
    ? { ...failure, status: 'failed', nextAttemptAt: null }
    : { ...failure, status: 'pending', nextAttemptAt: next };
}
