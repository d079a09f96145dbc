import { world } from '../world/world.ts';
import type { Answer, Receivers } from './receivers.ts';

/**
 * Stands in for `workers/webhooks/send.ts`, whose sockets, addresses, and time limits are only tested on a real
 * network: requests go to the receivers of the simulated world.
 */

export type Reply = { status: number; body: string; retryAfter: string | undefined };
export type Send = (
  url: string,
  headers: Record<string, string>,
  body: string | null,
  signal: AbortSignal,
) => Promise<Reply>;
export type Sender = { send: Send; close(): void };

/** As the sender's: from the begin of an attempt to the status line. */
export const RESPONSE_MS = 20_000;

let receivers: Receivers | null = null;

/** Makes these the receivers of all requests. */
export function sendTo(present: Receivers): void {
  receivers = present;
}

export function createSender(): Sender {
  return { send, close: () => undefined };
}

function send(
  url: string,
  headers: Record<string, string>,
  body: string | null,
  signal: AbortSignal,
): Promise<Reply> {
  const present = world();
  present.beforeOperation();
  const sender = present.current;
  return new Promise((resolve, reject) => {
    const late = present.schedule(
      RESPONSE_MS,
      () => over(() => reject(new Error(`no response within ${RESPONSE_MS / 1_000} s`))),
      sender,
    );
    const aborted = () => over(() => reject(signal.reason));
    function over(settle: () => void): void {
      late.isCancelled = true;
      signal.removeEventListener('abort', aborted);
      settle();
    }
    signal.addEventListener('abort', aborted, { once: true });
    const heard = (answer: Answer) => over(() => resolve(answer));
    const lost = () => over(() => reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })));
    receivers?.receive({ url, headers, body: body ?? '' }, { heard, lost });
  });
}

export function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
