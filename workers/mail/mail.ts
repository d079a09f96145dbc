import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { isOfOwnAccount, type MailContent } from '../../core/mail/contents.ts';
import { linkSignals } from '../../core/tier/linked-signal.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { countPending, MAILS, releaseClaims } from '../../sql/deliveries/queue.ts';
import {
  type ClaimedMail,
  dropMail,
  failExpiredMails,
  type MailContext,
  mailContext,
  saveMail,
} from '../../sql/mail/mail-queue.ts';
import { createMailSealers } from '../../sql/mail/sealer.ts';
import { createFewAtOnce } from '../deliveries/few-at-once.ts';
import type { IdlePause } from '../idle-pause.ts';
import { startJob } from '../jobs/job.ts';
import type { Waiting } from '../jobs/waiting.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { createRetry } from '../retry.ts';
import { tellAffiliates } from './affiliate-notices.ts';
import { type Composing, composeMail } from './compose.ts';
import { createMailMetrics } from './metrics.ts';
import { causesOf, type MailOutcome, mailStateAfter, outcomeOfError } from './outcome.ts';
import type { SendMail } from './send.ts';

export type MailOptions = Composing & {
  send: SendMail;
  /** For tests: another clock, in milliseconds since the epoch. */
  now?: () => number;
  /** For tests: from 0 to 1. */
  random?: () => number;
  /** For tests: called at each step of each mail. */
  onStep?: (step: MailStep) => void;
};

/** `queued`: mails to an affiliate, uncommitted. `answered`: the server has responded, and nothing is saved. */
export type MailStep = 'queued' | 'claimed' | 'answered' | 'saved';

export type MailDependencies = {
  pool: Pool;
  log: Logger;
  registry: Registry;
  workerMetrics: WorkerMetrics;
  waits: Waiting;
  /** The pause of the loops that `waits` serves. */
  pause: IdlePause;
  options: MailOptions;
};

const EVERY_MS = 500;
const EXPIRE_EVERY_MS = 30_000;
const COUNTED = 100_000;
/** Mails under way at once. */
const MOST = 5;
/** Longest attempt, of a server that responds one byte at a time. Milliseconds. */
const ATTEMPT_MS = 90_000;
/** Longer than an attempt: another worker must not send a mail that is under way. Milliseconds. */
export const MAIL_LEASE_MS = 120_000;

const NO_ACCOUNT = 'no account with a password has this address';
const NO_AFFILIATE = 'the address is in no program of the workspace';
const UNSUBSCRIBED = 'the recipient wants no mail of this workspace';

/**
 * Sends mails, each in three steps. A worker that ends after one of them leaves the mail to the next when its claim expires:
 *
 * | ended after | what the next worker does                                                    |
 * | ----------- | ---------------------------------------------------------------------------- |
 * | claim       | sends the mail                                                               |
 * | response    | sends it again with its `Message-ID`: the server may have accepted the first |
 * | outcome     | nothing                                                                      |
 */
export function startMail(dependencies: MailDependencies): { stop(withinMs: number): Promise<void> } {
  const { pool, registry, workerMetrics, waits, pause, options } = dependencies;
  const { send, now = Date.now, random = Math.random, onStep = () => undefined } = options;
  const log = dependencies.log.child({ part: 'mail' });
  const metrics = createMailMetrics(registry);
  const sealersOf = createMailSealers();
  const cutOff = new AbortController();
  const retry = createRetry({ log, metrics: workerMetrics, signal: cutOff.signal, isFinal: () => false });

  async function attempt(mail: ClaimedMail): Promise<MailOutcome> {
    const context = await mailContext(pool, mail);
    const canceled = reasonNotToSend(mail, context);
    if (canceled !== null) return { kind: 'canceled', error: canceled };
    const sealers = await sealersOf(pool);
    // Written by this program, and sealed.
    const content = JSON.parse(sealers.contents.open(mail.content, mail.id)) as MailContent;
    const message = composeMail(options, mail, content, context, sealers);
    const { signal, release } = linkSignals(cutOff.signal, AbortSignal.timeout(ATTEMPT_MS));
    try {
      await send(message, signal);
      return { kind: 'delivered' };
    } catch (error) {
      if (cutOff.signal.aborted) return { kind: 'interrupted' };
      metrics.failures.inc();
      log.warn({ mail: mail.id, kind: mail.kind, ...causesOf(error) }, 'the mail server did not take a mail');
      return outcomeOfError(error);
    } finally {
      release();
    }
  }

  async function deliver(mail: ClaimedMail): Promise<void> {
    onStep('claimed');
    const outcome = await attempt(mail);
    onStep('answered');
    if (outcome.kind === 'interrupted') {
      return releaseClaims(pool, MAILS, [{ id: mail.id, before: mail.attempts }], now());
    }
    const state = mailStateAfter(outcome, mail, now(), random());
    // Nothing of an address without an account is kept.
    const isDropped =
      state.status === 'canceled' && (mail.workspaceId === null || mail.kind === 'portal_sign_in');
    const settle = async () => {
      await (isDropped ? dropMail(pool, mail.id) : saveMail(pool, mail, state));
    };
    // Runs once even during a stop, else until it succeeds: a lost outcome would send the mail again.
    await settle().catch(() => retry('settle_mail', settle));
    onStep('saved');
    if (state.status !== 'pending') metrics.mails.inc({ kind: mail.kind, outcome: state.status });
  }

  const deliverer = createFewAtOnce<Omit<ClaimedMail, 'id' | 'target'>>(
    { pool, now },
    {
      queue: MAILS,
      most: MOST,
      leaseMs: MAIL_LEASE_MS,
      deliver: (mail) =>
        deliver(mail).catch((error: unknown) => {
          log.warn({ err: error, mail: mail.id }, 'lost the outcome of a mail; it is attempted again');
        }),
      onEnd: () => sending.wake(),
    },
  );

  const sending = startJob({
    name: 'mail',
    everyMs: () => pause.ms(EVERY_MS),
    log,
    metrics: workerMetrics,
    work: async (isWoken) => (isWoken || (await waits('mails'))) && deliverer.attemptDue(),
  });
  const telling = startJob({
    name: 'affiliate_notices',
    everyMs: () => pause.ms(EVERY_MS),
    log,
    metrics: workerMetrics,
    work: async () =>
      (await waits('affiliateNotices')) &&
      tellAffiliates({ pool, appUrl: options.appUrl, now, onQueued: () => onStep('queued') }),
  });
  const counting = startJob({
    name: 'mail_pending',
    everyMs: EXPIRE_EVERY_MS,
    log,
    metrics: workerMetrics,
    async work() {
      metrics.pending.set(await countPending(pool, MAILS, COUNTED));
      return false;
    },
  });
  return {
    async stop(withinMs) {
      await Promise.all([sending.stop(), telling.stop(), counting.stop()]);
      await Promise.race([deliverer.settled(), delay(withinMs)]);
      cutOff.abort();
      await deliverer.settled();
    },
  };
}

function reasonNotToSend(
  { kind }: ClaimedMail,
  { isUnsubscribed, hasPassword, isAffiliate }: MailContext,
): string | null {
  if (kind === 'password_reset' && !hasPassword) return NO_ACCOUNT;
  if ((kind === 'portal_sign_in' || kind === 'affiliate_notice') && !isAffiliate) return NO_AFFILIATE;
  if (isOfOwnAccount(kind) || !isUnsubscribed) return null;
  return kind === 'invitation' ? `${UNSUBSCRIBED}; send the link yourself` : UNSUBSCRIBED;
}

/** Fails the mails whose time is over, in any process: mails stay when `SMTP_URL` is taken away. */
export function startMailExpiry(given: {
  pool: Pool;
  log: Logger;
  metrics: WorkerMetrics;
  now?: (() => number) | undefined;
}) {
  const { pool, now = Date.now } = given;
  return startJob({
    ...given,
    name: 'mail_expiry',
    everyMs: EXPIRE_EVERY_MS,
    async work() {
      await failExpiredMails(pool, now());
      return false;
    },
  });
}
