import { Registry } from 'prom-client';
import { uuidv7 } from '../../core/ids.ts';
import type { MailContent } from '../../core/mail/contents.ts';
import { readConfig } from '../../core/settings/config.ts';
import { type Address, credentialsOf } from '../../core/settings/credentials.ts';
import { silentLogger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { createIdlePause } from '../../workers/idle-pause.ts';
import { createWaiting } from '../../workers/jobs/waiting.ts';
import { type MailOptions, startMail } from '../../workers/mail/mail.ts';
import { createMailSender, SMTP_WAITS } from '../../workers/mail/send.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';

/** The settings of a deployment that sends mail, as the environment has them. */
export const MAIL_ENVIRONMENT = {
  SMTP_URL: 'smtp://127.0.0.1:25',
  MAIL_FROM: 'Corner Shop <mail@shop.example>',
  MAIL_REPLY_TO: 'help@shop.example',
  APP_URL: 'https://app.example',
  BASE_URL: 'https://api.example',
};

export type Mailer = { registry: Registry; stop(withinMs?: number): Promise<void> };

/** Starts the part of a worker that sends mails. */
export function startMailer(
  pool: Pool,
  server: Address,
  {
    ca,
    waits = SMTP_WAITS,
    ...changes
  }: Partial<MailOptions> & { ca?: string; waits?: typeof SMTP_WAITS } = {},
): Mailer {
  const { mail, appUrl, baseUrl } = readConfig(MAIL_ENVIRONMENT);
  if (!mail) throw new Error('the settings have no mail server');
  const registry = new Registry();
  const pause = createIdlePause(100);
  const { now = Date.now } = changes;
  const mailer = startMail({
    pool,
    log: silentLogger(),
    registry,
    workerMetrics: createWorkerMetrics(registry),
    waits: createWaiting({ pool, pause, now }),
    pause,
    options: {
      settings: mail,
      appUrl,
      baseUrl,
      send: createMailSender(credentialsOf(server), { waits, ...(ca !== undefined && { ca }) }),
      ...changes,
    },
  });
  return { registry, stop: (withinMs = 0) => mailer.stop(withinMs) };
}

/** Queues a mail about a change of an account. Returns its new recipient. */
export async function queueNotice(pool: Pool, workspaceId: string | null): Promise<string> {
  const recipient = `${uuidv7()}@members.example`;
  await queueMail(pool, workspaceId, recipient, {
    kind: 'account_change',
    change: 'password_set',
    at: '2026-11-29T21:18:00.000Z',
    place: { browser: 'Firefox on Linux', address: '203.0.113.7' },
    accountUrl: 'https://app.example/console/settings?tab=sign-in',
  });
  return recipient;
}

/** Queues a mail. */
export async function queueMail(
  pool: Pool,
  workspaceId: string | null,
  recipient: string,
  content: MailContent,
): Promise<void> {
  await createOutbox(true).queue(pool, [{ workspaceId, recipient, content }]);
}

/** A mail's row. */
export type MailRow = {
  id: string;
  status: string;
  attempts: number;
  error: string | null;
  content: Buffer | null;
  next_attempt_at: Date | null;
};

/** Returns the row of the mail to an address. */
export async function mailTo(pool: Pool, recipient: string): Promise<MailRow | undefined> {
  const { rows } = await pool.query<MailRow>(
    'SELECT id, status, attempts, error, content, next_attempt_at FROM mails WHERE recipient = $1',
    [recipient],
  );
  return rows[0];
}
