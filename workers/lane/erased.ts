import { LINK_AT, VISITOR_AT, WORKSPACE_AT } from '../../core/events/click-reader.ts';
import { bytesToUuid } from '../../core/ids.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { hasErasuresSince, lastErasureTimes } from '../../sql/erasure/erasures.ts';
import type { Prepared } from './prepare.ts';

/** Something of a workspace that may have been erased. */
type Target = { workspaceId: string; targetId: string };

/**
 * Returns the events without those erased after they were made: an erasure does not wait for dead letters, nor for the
 * journal of a retired stream. Erased clicks are returned apart. Orders stay, without visitor, email and user.
 */
export async function withoutErased<P extends Pick<Prepared, 'clicks' | 'identifies' | 'orders'>>(
  db: Queryable,
  prepared: P,
): Promise<P & Pick<Prepared, 'erased'>> {
  const { clicks, identifies, orders } = prepared;
  let oldest = Number.POSITIVE_INFINITY;
  for (const rows of [clicks, identifies, orders]) {
    for (const { event } of rows) if (event.ts < oldest) oldest = event.ts;
  }
  if (oldest === Number.POSITIVE_INFINITY || !(await hasErasuresSince(db, oldest)))
    return { ...prepared, erased: [] };
  const ofClick = ({ event: { ids, idsAt } }: (typeof clicks)[number]): Target[] =>
    [LINK_AT, VISITOR_AT].map((at) => ({
      workspaceId: bytesToUuid(ids, idsAt + WORKSPACE_AT),
      targetId: bytesToUuid(ids, idsAt + at),
    }));
  const ofReport = ({ event }: (typeof identifies | typeof orders)[number]): Target[] =>
    event.visitorId
      ? [{ workspaceId: bytesToUuid(event.workspaceId), targetId: bytesToUuid(event.visitorId) }]
      : [];
  const others = ({ event }: (typeof identifies | typeof orders)[number]): Target[] =>
    (event.otherVisitorIds ?? []).map((id) => ({
      workspaceId: bytesToUuid(event.workspaceId),
      targetId: bytesToUuid(id),
    }));
  const targets = [
    ...clicks.flatMap(ofClick),
    ...[...identifies, ...orders].flatMap((row) => [...ofReport(row), ...others(row)]),
  ];
  const until = await lastErasureTimes(db, targets);
  if (until.size === 0) return { ...prepared, erased: [] };
  const isErased = (ts: number, those: Target[]) =>
    those.some(({ workspaceId, targetId }) => ts < (until.get(`${workspaceId}/${targetId}`) ?? 0));
  const withoutOthers = <Row extends (typeof identifies | typeof orders)[number]>(row: Row): Row => {
    if (!isErased(row.event.ts, others(row))) return row;
    const workspaceId = bytesToUuid(row.event.workspaceId);
    const otherVisitorIds = (row.event.otherVisitorIds ?? []).filter(
      (id) => !isErased(row.event.ts, [{ workspaceId, targetId: bytesToUuid(id) }]),
    );
    return { ...row, event: { ...row.event, otherVisitorIds } };
  };
  const erased = new Set(clicks.filter((row) => isErased(row.event.ts, ofClick(row))));
  return {
    ...prepared,
    clicks: clicks.filter((row) => !erased.has(row)),
    erased: [...erased],
    identifies: identifies.filter((row) => !isErased(row.event.ts, ofReport(row))).map(withoutOthers),
    orders: orders.map((row) =>
      isErased(row.event.ts, ofReport(row))
        ? {
            ...row,
            event: { ...row.event, visitorId: null, otherVisitorIds: [], email: null, externalUserId: null },
          }
        : withoutOthers(row),
    ),
  };
}
