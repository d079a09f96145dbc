import { mailRetryWait } from '../../core/mail/retry-schedule.ts';
import { storableText } from '../../core/text/storable.ts';
import type { ClaimedMail, MailState } from '../../sql/mail/mail-queue.ts';

/**
 * The outcome of an attempt. `refused`: the server will never take this mail. `canceled`: there is no one to send it to.
 * `interrupted`: a shutdown cut it off.
 */
export type MailOutcome =
  | { kind: 'delivered' }
  | { kind: 'retry' | 'refused' | 'canceled'; error: string }
  | { kind: 'interrupted' };

/** Characters of a server's message that are stored. */
const MOST = 500;

/** The parts of the client's error that say what happened. */
type SmtpError = Error & { code?: string; command?: string; responseCode?: number };

/**
 * Returns the outcome of a failed attempt. Only a final refusal (5xx) of the recipient or of the message itself is for good. The server
 * may refuse the sender or the password because of a setting, which the operator corrects.
 */
export function outcomeOfError(thrown: unknown): MailOutcome {
  const {
    message,
    command = '',
    responseCode = 0,
  } = (thrown instanceof Error ? thrown : new Error(String(thrown))) as SmtpError;
  const error = storableText(message).slice(0, MOST);
  const isOfMail = /^(RCPT TO|DATA)\b/.test(command);
  return { kind: isOfMail && responseCode >= 500 ? 'refused' : 'retry', error };
}

/** Returns what a log may say about a failure: the server's words name the recipient. */
export function causesOf(thrown: unknown): { code?: string; command?: string; responseCode?: number } {
  if (!(thrown instanceof Error)) return {};
  const { code, command, responseCode } = thrown as SmtpError;
  return { code: code ?? thrown.name, ...(command && { command }), ...(responseCode && { responseCode }) };
}

/** Returns whether the server refused user and password. */
export function isLoginRefused(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown as SmtpError).code === 'EAUTH';
}

/**
 * Returns the state of a mail after an attempt.
 *
 * @param now milliseconds since the epoch
 * @param random from 0 to 1
 */
export function mailStateAfter(
  outcome: Exclude<MailOutcome, { kind: 'interrupted' }>,
  { attempts: before, expiresAt }: Pick<ClaimedMail, 'attempts' | 'expiresAt'>,
  now: number,
  random: number,
): MailState {
  if (outcome.kind === 'canceled') {
    return {
      status: 'canceled',
      attempts: before,
      error: outcome.error,
      nextAttemptAt: null,
      deliveredAt: null,
    };
  }
  const attempts = before + 1;
  if (outcome.kind === 'delivered') {
    return { status: 'delivered', attempts, error: null, nextAttemptAt: null, deliveredAt: now };
  }
  const next = now + mailRetryWait(attempts, random);
  const failure = { attempts, error: outcome.error, deliveredAt: null };
  return outcome.kind === 'refused' || next >= expiresAt.getTime()
    ? { ...failure, status: 'failed', nextAttemptAt: null }
    : { ...failure, status: 'pending', nextAttemptAt: next };
}
