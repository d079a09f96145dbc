import { uuidv7 } from '../../core/ids.ts';
import type { MailContent } from '../../core/mail/contents.ts';
import { TRIED_FOR } from '../../core/mail/retry-schedule.ts';
import type { Queryable } from '../database/pool.ts';
import { createMailSealers } from './sealer.ts';

/** A mail to send. */
export type NewMail = {
  /** Of its row; left out: a new one. */
  id?: string;
  /** Null: it is about an account, which may be in several workspaces. */
  workspaceId: string | null;
  /** Trimmed, lower case. */
  recipient: string;
  content: MailContent;
  /** Not attempted later, because its link has ended; left out: a day. */
  expiresAt?: Date;
};

export type Outbox = {
  /** Whether the service sends mail. Without it `queue` does nothing. */
  isOn: boolean;
  /** Queues mails in the transaction that causes them: both commit or neither does. */
  queue(tx: Queryable, mails: readonly NewMail[]): Promise<void>;
};

/** Minutes in which one address gets one mail of {@link ONCE}: anyone who knows a user's id may cause it on a page. */
const ONCE_MINUTES = 60;
const ONCE = 'payout_address_change';

/** Creates the outbox of mails. @param isOn whether the service sends mail */
export function createOutbox(isOn: boolean): Outbox {
  const sealersOf = createMailSealers();
  return {
    isOn,
    async queue(tx, mails) {
      if (!isOn || mails.length === 0) return;
      const { contents } = await sealersOf(tx);
      const now = Date.now();
      for (const { id = uuidv7(), workspaceId, recipient, content, expiresAt } of mails) {
        const end = Math.min(expiresAt?.getTime() ?? Number.POSITIVE_INFINITY, now + TRIED_FOR);
        await tx.query(
          `INSERT INTO mails (id, workspace_id, kind, recipient, content, next_attempt_at, expires_at, created_at)
           SELECT $1, $2::uuid, $3::text, $4::text, $5, to_timestamp($6::float8 / 1000), to_timestamp($7::float8 / 1000),
             to_timestamp($6::float8 / 1000)
           WHERE $3 <> '${ONCE}' OR NOT EXISTS (
             SELECT FROM mails WHERE workspace_id = $2 AND kind = '${ONCE}' AND recipient = $4
               AND created_at > now() - interval '${ONCE_MINUTES} minutes')`,
          [id, workspaceId, content.kind, recipient, contents.seal(JSON.stringify(content), id), now, end],
        );
      }
    },
  };
}
