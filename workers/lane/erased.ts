import { bytesToUuid } from '../../core/ids.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { hasErasuresSince, lastErasureTimes } from '../../sql/erasure/erasures.ts';
import type { Prepared } from './prepare.ts';

/** As they stand in the ids of a click. */
const LINK_AT = 16;
const VISITOR_AT = 32;

/** Something of a workspace that may have been erased. */
type Target = { workspaceId: string; targetId: string };

/**
 * The events without what was erased after they were made: no erasure waits for a letter, nor for the journal of a stream that was
 * retired. Orders stay, as nobody's.
 */
export async function withoutErased(db: Queryable, prepared: Prepared): Promise<Prepared> {
  const { clicks, identifies, orders } = prepared;
  let oldest = Number.POSITIVE_INFINITY;
  for (const rows of [clicks, identifies, orders]) {
    for (const { event } of rows) if (event.ts < oldest) oldest = event.ts;
  }
  if (oldest === Number.POSITIVE_INFINITY || !(await hasErasuresSince(db, oldest))) return prepared;
  const ofClick = ({ event: { ids, idsAt } }: (typeof clicks)[number]): Target[] =>
    [LINK_AT, VISITOR_AT].map((at) => ({
      workspaceId: bytesToUuid(ids, idsAt),
      targetId: bytesToUuid(ids, idsAt + at),
    }));
  const ofReport = ({ event }: (typeof identifies | typeof orders)[number]): Target[] =>
    event.visitorId
      ? [{ workspaceId: bytesToUuid(event.workspaceId), targetId: bytesToUuid(event.visitorId) }]
      : [];
  const targets = [...clicks.flatMap(ofClick), ...identifies.flatMap(ofReport), ...orders.flatMap(ofReport)];
  const until = await lastErasureTimes(db, targets);
  if (until.size === 0) return prepared;
  const isErased = (ts: number, those: Target[]) =>
    those.some(({ workspaceId, targetId }) => ts < (until.get(`${workspaceId}/${targetId}`) ?? 0));
  return {
    ...prepared,
    clicks: clicks.filter((row) => !isErased(row.event.ts, ofClick(row))),
    identifies: identifies.filter((row) => !isErased(row.event.ts, ofReport(row))),
    orders: orders.map((row) =>
      isErased(row.event.ts, ofReport(row))
        ? { ...row, event: { ...row.event, visitorId: null, email: null, externalUserId: null } }
        : row,
    ),
  };
}
