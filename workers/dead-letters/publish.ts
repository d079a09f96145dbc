import type { DeadTopic } from '../../core/event-log/open.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { claimUnpublished, hasUnpublished, markPublished } from '../../sql/event-log/dead-letters.ts';

const BATCH = 50;

/**
 * Copies a batch of dead letters to their Kafka topic, for other programs. The table is authoritative; a copy may be
 * late. A letter is claimed before it is sent, and no transaction is open meanwhile. After a failure it is sent again
 * when its claim has expired, so the topic may hold it twice. Each claim of a letter lasts longer than the one before.
 *
 * @returns whether there may be more
 * @throws errors of PostgreSQL and Kafka
 */
export async function publishDeadLetters(dependencies: { pool: Pool; topic: DeadTopic }): Promise<boolean> {
  const { pool, topic } = dependencies;
  if (!(await hasUnpublished(pool))) return false;
  await topic.open(); // first, so that a letter is claimed only when it can be sent
  for (let published = 0; published < BATCH; published++) {
    const letter = await claimUnpublished(pool);
    if (!letter) return false;
    await topic.publish(letter);
    await markPublished(pool, letter.id);
  }
  return true;
}
