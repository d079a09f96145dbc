import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '../clickhouse/client.ts';
import { hideVisitor } from '../clickhouse/erasures.ts';
import { rollUp } from '../clickhouse/rollups/roll-up.ts';
import { withJobLock } from '../sql/database/job-locks.ts';
import { inTransaction, type Pool } from '../sql/database/pool.ts';
import {
  forgetOrdersNaming,
  forgetSignupsNaming,
  forgetVisitors,
  namesOnlyOfVisitor,
  requestErasure,
} from '../sql/erasure/erasures.ts';
import { watermark } from '../sql/event-log/streams.ts';
import { CommandFailed } from './output.ts';

const ASK_AGAIN_MS = 500;
const ROLL_UP_WITHIN_MS = 600_000;

type Stores = { pool: Pool; clickhouse: ClickHouseClient };

/**
 * Erases a visitor: when it resolves, every answer of the API is without the visitor. The workers then rewrite the
 * store without the rows, and erase what was still on its way when this was called.
 *
 * Cut off anywhere it is simply run again: Postgres, which knows the visitor's emails and users, forgets last.
 *
 * @returns how many entries of the visitor's journey are gone: clicks (bots' too), identifies, and orders that were
 *   the visitor's by the visitor's id, or by an email or a user that no other visitor gave. Orders stay as revenue, without email,
 *   visitor and user
 * @throws {CommandFailed} when roll-ups are being made for ten minutes on end
 */
export async function eraseVisitor(
  { pool, clickhouse }: Stores,
  { workspaceId, visitorId }: { workspaceId: string; visitorId: string },
): Promise<{ deleted: number }> {
  const names = await namesOnlyOfVisitor(pool, workspaceId, visitorId);
  const erased = { workspaceId, kind: 'visitor', targetId: visitorId } as const;
  const { clicks, identifies } = await hideVisitor(clickhouse, erased, names);
  const orders = await inTransaction(pool, async (tx) => {
    await requestErasure(tx, { ...erased, names });
    await forgetSignupsNaming(tx, workspaceId, names);
    return (await forgetVisitors(tx, [erased])) + (await forgetOrdersNaming(tx, workspaceId, names, null));
  });
  if (clicks > 0) await rollUpAgain({ pool, clickhouse });
  return { deleted: clicks + identifies + orders };
}

/** Makes the days again that the clicks were rolled up in. A pass that a worker has begun may have counted them. */
async function rollUpAgain({ pool, clickhouse }: Stores): Promise<void> {
  const micros = await watermark(pool);
  if (micros === null) return;
  const closed = new Date(micros / 1_000).toISOString().slice(0, 10);
  for (let waited = 0; waited < ROLL_UP_WITHIN_MS; waited += ASK_AGAIN_MS) {
    if ((await withJobLock(pool, 'rollups', () => rollUp(clickhouse, closed))) !== null) return;
    await sleep(ASK_AGAIN_MS);
  }
  throw new CommandFailed(
    'the visitor is erased, but old figures still count the clicks: the workers will put them right with their next pass',
  );
}
