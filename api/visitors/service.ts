import { newestClickOf, newestVisitors } from '../../clickhouse/queries/newest-visitors.ts';
import { clickRecord, type ShownClick } from '../../core/clicks/click-record.ts';
import { badRequest } from '../../core/errors.ts';
import { formatInstant, NANOS_PER_MICRO } from '../../core/time/timestamps.ts';
import { isEmail, normalizeEmail } from '../../core/tracking/emails.ts';
import { slugsOfLinks } from '../../sql/links/slugs.ts';
import { emailsOfVisitors, visitorsByEmail } from '../../sql/orders/visitor-emails.ts';
import type { ApiDeps } from '../dependencies.ts';
import type { VisitorsQuery } from './schemas.ts';

type Stores = Pick<ApiDeps, 'pool' | 'clickhouse'>;

/** A visitor with the data of either database. */
type Known = { id: string; email: string | null; seenNanos: bigint; click: ShownClick | null };

/**
 * Returns visitors: the most recent ones, or those with an email.
 *
 * @throws {AppError} `bad_request` when `email` is malformed
 */
export async function listVisitors(stores: Stores, workspaceId: string, { email, limit }: VisitorsQuery) {
  if (email !== undefined && !isEmail(email)) throw badRequest('email', 'must be an email address');
  const visitors =
    email === undefined
      ? await thoseWhoClicked(stores, workspaceId, limit)
      : await thoseWithEmail(stores, workspaceId, normalizeEmail(email), limit);
  const links = visitors.flatMap(({ click }) => (click ? [click.link_id] : []));
  const slugs = await slugsOfLinks(stores.pool, workspaceId, [...new Set(links)]);
  return {
    visitors: visitors.map(({ id, email, seenNanos, click }) => ({
      id,
      email,
      last_seen: formatInstant(seenNanos, 6),
      last_click: click && { ...clickRecord(click), slug: slugs.get(click.link_id) ?? '' },
    })),
  };
}

async function thoseWhoClicked(
  { pool, clickhouse }: Stores,
  workspaceId: string,
  limit: number,
): Promise<Known[]> {
  const clicks = await newestVisitors(clickhouse, workspaceId, limit);
  const ids = clicks.map((click) => click.visitor_id);
  const given = await emailsOfVisitors(pool, workspaceId, ids);
  const emails = new Map(given.map(({ visitorId, email }) => [visitorId, email]));
  return clicks.map((click) => ({
    id: click.visitor_id,
    email: emails.get(click.visitor_id) ?? null,
    seenNanos: click.tsNanos,
    click,
  }));
}

async function thoseWithEmail(
  { pool, clickhouse }: Stores,
  workspaceId: string,
  email: string,
  limit: number,
): Promise<Known[]> {
  const given = await visitorsByEmail(pool, workspaceId, email, limit);
  const clicks = await newestClickOf(
    clickhouse,
    workspaceId,
    given.map(({ visitorId }) => visitorId),
  );
  const clickOf = new Map(clicks.map((click) => [click.visitor_id, click]));
  return given.map(({ visitorId, lastTs }) => {
    const click = clickOf.get(visitorId) ?? null;
    const gaveNanos = BigInt(lastTs) * NANOS_PER_MICRO;
    const seenNanos = click && click.tsNanos > gaveNanos ? click.tsNanos : gaveNanos;
    return { id: visitorId, email, seenNanos, click };
  });
}
