import type { Chat } from '../../core/chat/chat-body.ts';
import { uuidv7 } from '../../core/ids.ts';
import { TRIED_FOR } from '../../core/mail/retry-schedule.ts';
import type { Queryable } from '../database/pool.ts';
import { type Claimed, outcomeCounts } from '../deliveries/queue.ts';

/** A message that this worker posts, as it was before the claim. */
export type ClaimedChatMessage = Claimed<{
  address: string;
  body: string;
  attempts: number;
  expiresAt: Date;
}>;

/** Queues a message in the transaction that causes it. It is attempted for a day. */
export async function queueChatMessage(
  tx: Queryable,
  given: { workspaceId: string; chat: Chat; address: string; body: string },
): Promise<void> {
  const now = Date.now();
  await tx.query(
    `INSERT INTO chat_messages (id, workspace_id, chat, address, body, next_attempt_at, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000), to_timestamp($6::float8 / 1000),
       to_timestamp($7::float8 / 1000))`,
    [uuidv7(), given.workspaceId, given.chat, given.address, given.body, now, now + TRIED_FOR],
  );
}

/** State of a message after an attempt. Times are milliseconds since the epoch. */
export type ChatMessageState = {
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  error: string | null;
  nextAttemptAt: number | null;
  deliveredAt: number | null;
};

/** Saves the outcome of an attempt. The text goes once the message is over. */
export async function saveChatMessage(
  db: Queryable,
  { id, attempts: before }: Pick<ClaimedChatMessage, 'id' | 'attempts'>,
  { status, attempts, error, nextAttemptAt, deliveredAt }: ChatMessageState,
): Promise<void> {
  await db.query(
    `UPDATE chat_messages AS delivery SET status = $3, attempts = $4, error = $5,
       next_attempt_at = to_timestamp($6::float8 / 1000), delivered_at = to_timestamp($7::float8 / 1000),
       body = CASE WHEN $3 = 'pending' THEN body END
     WHERE id = $1 AND ${outcomeCounts('$3', '$2')}`,
    [id, before, status, attempts, error, nextAttemptAt, deliveredAt],
  );
}

/** Returns why the newest message to each address did not arrive; without those that did, or wait for the first attempt. */
export async function chatErrors(
  db: Queryable,
  workspaceId: string,
  addresses: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ address: string; error: string }>(
    `SELECT given.address, newest.error FROM unnest($2::text[]) AS given (address) CROSS JOIN LATERAL (
       SELECT error FROM chat_messages m WHERE m.workspace_id = $1 AND m.address = given.address
       ORDER BY created_at DESC LIMIT 1) AS newest
     WHERE newest.error IS NOT NULL`,
    [workspaceId, addresses],
  );
  return new Map(rows.map(({ address, error }) => [address, error]));
}
