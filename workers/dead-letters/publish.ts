import type { DeadTopic } from '../../core/event-log/kafka/dead-topic.ts';
import { markPublished, unpublishedDeadLetters } from '../../sql/dead-letters.ts';
import { inTransaction, type Pool } from '../../sql/pool.ts';

const CHUNK = 50;

/**
 * One round of copying dead letters to their topic, where other programmes may watch for them. The table is the truth;
 * a copy may be late, and be there twice when this ends between the acknowledgement and the mark.
 *
 * @returns whether more may be there
 */
export async function publishDeadLetters(dependencies: { pool: Pool; topic: DeadTopic }): Promise<boolean> {
  const { pool, topic } = dependencies;
  return inTransaction(pool, async (transaction) => {
    const letters = await unpublishedDeadLetters(transaction, CHUNK);
    if (letters.length === 0) return false;
    await topic.publish(letters);
    await markPublished(
      transaction,
      letters.map(({ id }) => id),
    );
    return letters.length === CHUNK;
  });
}
