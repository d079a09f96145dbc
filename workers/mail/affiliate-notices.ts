import { toMajor } from '../../core/money/money.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { affiliatesToTell, settleNotices } from '../../sql/portal/notices.ts';

/** Affiliates in one run. */
const BATCH = 100;

/**
 * Queues the mails that tell affiliates of a first sale, payouts, and refunds. A notice is settled in the transaction
 * that queues its mail, so a worker that is killed here leaves it to the next one, and none is queued twice.
 *
 * @returns whether more may wait
 */
export async function tellAffiliates({
  pool,
  appUrl,
  now,
  onQueued,
}: {
  pool: Pool;
  appUrl: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** For tests: called before the transaction of an affiliate commits. */
  onQueued: () => void;
}): Promise<boolean> {
  const outbox = createOutbox(true);
  const waiting = await affiliatesToTell(pool, now(), BATCH);
  for (const enrollmentId of waiting) {
    await inTransaction(pool, async (tx) => {
      const found = await settleNotices(tx, enrollmentId, now());
      if (!found) return;
      const { workspace_id: workspaceId, email: recipient, language, program, code } = found.to;
      const mails = found.notices.map(({ kind, amount_minor, currency, count }) => ({
        workspaceId,
        recipient,
        content: {
          kind: 'affiliate_notice' as const,
          change: kind,
          program,
          amount: toMajor(amount_minor, currency),
          currency,
          count,
          language,
          portalUrl: `${appUrl}/p/${code}`,
        },
      }));
      await outbox.queue(tx, mails);
      onQueued();
    });
  }
  return waiting.length === BATCH;
}
