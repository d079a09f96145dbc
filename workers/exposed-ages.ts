import { Gauge, type Registry } from 'prom-client';
import { lastBackup } from '../sql/database/last-backup.ts';
import type { Pool } from '../sql/database/pool.ts';
import { oldestOpenErasure } from '../sql/erasure/erasures.ts';
import { watermark } from '../sql/event-log/streams.ts';
import { oldestPendingMail } from '../sql/mail/mail-queue.ts';

/** A scrape does not wait longer for PostgreSQL. Milliseconds. */
const ANSWER_MS = 2_000;

/**
 * Exposes the age of the watermark, which pollers of the click stream wait for. A stream whose process is dead holds
 * the watermark while lanes are up to date, so it is not the lag of a lane. 0 before the first stream.
 *
 * @returns once the watermark was read, so that the age is known when PostgreSQL goes down before the first scrape
 */
export function exposeWatermarkAge(pool: Pool, registry: Registry): Promise<void> {
  const help = 'Age of the watermark; every click older than the watermark is visible.';
  return exposeAge(registry, 'hoplog_watermark_age_seconds', help, () => watermark(pool));
}

/** Exposes the age of the oldest open erasure; 0 without any. Otherwise as {@link exposeWatermarkAge}. */
export function exposeErasureAge(pool: Pool, registry: Registry): Promise<void> {
  const help = 'Age of the oldest erasure that is not done; 0 without any.';
  return exposeAge(registry, 'hoplog_erasure_age_seconds', help, () => oldestOpenErasure(pool));
}

/**
 * Exposes the age of the newest backup; nothing before the first one is recorded. Otherwise as {@link
 * exposeWatermarkAge}.
 */
export function exposeBackupAge(pool: Pool, registry: Registry): Promise<void> {
  const help = 'Age of the newest recorded backup; absent before the first.';
  return exposeAge(registry, 'hoplog_backup_age_seconds', help, () => lastBackup(pool), { isAbsent: true });
}

/** Exposes the age of the oldest mail that waits; 0 without any. Otherwise as {@link exposeWatermarkAge}. */
export function exposeMailAge(pool: Pool, registry: Registry): Promise<void> {
  const help = 'Age of the oldest mail that no mail server has accepted; 0 without any.';
  return exposeAge(registry, 'hoplog_mail_age_seconds', help, () => oldestPendingMail(pool));
}

/**
 * Exposes the age of a time that is read at each scrape. While PostgreSQL is down the age grows from the last known
 * time.
 *
 * @param read returns microseconds; null: 0 is exposed, or with `isAbsent` nothing
 */
async function exposeAge(
  registry: Registry,
  name: string,
  help: string,
  read: () => Promise<number | null>,
  { isAbsent = false } = {},
): Promise<void> {
  let micros: number | null = null;

  async function look(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, ANSWER_MS, undefined);
    });
    const answer = read().catch(() => undefined);
    const seen = await Promise.race([answer, limit]);
    if (seen !== undefined) micros = seen;
    clearTimeout(timer);
  }

  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      await look();
      if (micros === null && isAbsent) this.remove();
      else this.set(micros === null ? 0 : Math.max(0, Date.now() / 1_000 - micros / 1_000_000));
    },
  });
  await look();
}
