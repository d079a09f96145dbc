import { newestClickOf, newestVisitors, visitorsWithEnd } from '../../clickhouse/queries/newest-visitors.ts';
import { clickRecord, type ShownClick } from '../../core/clicks/click-record.ts';
import { badRequest } from '../../core/errors.ts';
import { formatInstant, NANOS_PER_MICRO } from '../../core/time/timestamps.ts';
import { isEmail, normalizeEmail } from '../../core/tracking/emails.ts';
import { slugsOfLinks } from '../../sql/links/slugs.ts';
import {
  emailsOfVisitors,
  type VisitorEmail,
  visitorsByEmail,
  visitorsByName,
} from '../../sql/orders/visitor-emails.ts';
import type { ApiDeps } from '../dependencies.ts';
import type { VisitorsQuery } from './schemas.ts';

type Stores = Pick<ApiDeps, 'pool' | 'clickhouse'>;

/** A visitor with the data of both databases. */
type Known = { id: string; email: string | null; seenNanos: bigint; click: ShownClick | null };

/** Matches a whole id, or its end. The beginning does not identify an id: ids from one time share it. */
const END_OF_ID = /^[0-9a-f-]{4,36}$/;

/**
 * Returns visitors: the most recent ones, those with an email, or the results of a search.
 *
 * @throws {AppError} `bad_request` when `email` is malformed, or is combined with `search`
 */
export async function listVisitors(stores: Stores, workspaceId: string, query: VisitorsQuery) {
  const visitors = await wantedVisitors(stores, workspaceId, query);
  const links = visitors.flatMap(({ click }) => click?.link_id ?? []);
  const slugs = await slugsOfLinks(stores.pool, workspaceId, [...new Set(links)]);
  return {
    visitors: visitors.map(({ id, email, seenNanos, click }) => ({
      id,
      email,
      last_seen: formatInstant(seenNanos, 6),
      last_click: click && { ...clickRecord(click), slug: slugs.get(click.link_id ?? '') ?? '' },
    })),
  };
}

async function wantedVisitors(
  stores: Stores,
  workspaceId: string,
  { email, search, limit }: VisitorsQuery,
): Promise<Known[]> {
  const { pool, clickhouse } = stores;
  if (email !== undefined) {
    if (search !== undefined) throw badRequest('search', 'must not be combined with `email`');
    if (!isEmail(email)) throw badRequest('email', 'must be an email address');
    return withClicks(
      stores,
      workspaceId,
      await visitorsByEmail(pool, workspaceId, normalizeEmail(email), limit),
    );
  }
  if (search === undefined) {
    return withEmails(stores, workspaceId, await newestVisitors(clickhouse, workspaceId, limit));
  }
  const text = search.trim().toLowerCase();
  const [named, clicked] = await Promise.all([
    visitorsByName(pool, workspaceId, text, limit),
    END_OF_ID.test(text) ? visitorsWithEnd(clickhouse, workspaceId, text, limit) : [],
  ]);
  const byId = await withEmails(stores, workspaceId, clicked);
  const found = new Set(byId.map(({ id }) => id));
  const byName = named.filter(({ visitorId }) => !found.has(visitorId));
  return [...byId, ...(await withClicks(stores, workspaceId, byName))].slice(0, limit);
}

async function withEmails({ pool }: Stores, workspaceId: string, clicks: ShownClick[]): Promise<Known[]> {
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

async function withClicks(
  { clickhouse }: Stores,
  workspaceId: string,
  given: readonly VisitorEmail[],
): Promise<Known[]> {
  const clicks = await newestClickOf(
    clickhouse,
    workspaceId,
    given.map(({ visitorId }) => visitorId),
  );
  const clickOf = new Map(clicks.map((click) => [click.visitor_id, click]));
  return given.map(({ visitorId, email, lastTs }) => {
    const click = clickOf.get(visitorId) ?? null;
    const gaveNanos = BigInt(lastTs) * NANOS_PER_MICRO;
    const seenNanos = click && click.tsNanos > gaveNanos ? click.tsNanos : gaveNanos;
    return { id: visitorId, email: email || null, seenNanos, click };
  });
}
