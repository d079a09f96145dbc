import type { DeadTopic } from '../../core/event-log/open.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { claimUnpublished, hasUnpublished, markPublished } from '../../sql/event-log/dead-letters.ts';

const ROUND = 50;

/**
 * One round of copying dead letters to their topic, where other programmes may watch for them. The table is the truth;
 * a copy may be late. A letter is claimed before it is sent and no transaction is open while Kafka answers. What is not
 * known to have arrived, because Kafka or this process failed, is sent again when its claim has run out: then the
 * topic may hold it twice, and claims that last longer each time keep that from going on.
 *
 * @returns whether more may be there
 * @throws what a store or Kafka throws that is away
 */
export async function publishDeadLetters(dependencies: { pool: Pool; topic: DeadTopic }): Promise<boolean> {
  const { pool, topic } = dependencies;
  if (!(await hasUnpublished(pool))) return false;
  await topic.open(); // first, so that a letter is claimed only when it can be sent
  for (let published = 0; published < ROUND; published++) {
    const letter = await claimUnpublished(pool);
    if (!letter) return false;
    await topic.publish(letter);
    await markPublished(pool, letter.id);
  }
  return true;
}
