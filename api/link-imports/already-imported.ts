import { AppError } from '../../core/errors.ts';
import { channelSlug } from '../../core/links/slugs.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import { type Link, linksBySlugs } from '../../sql/links/links.ts';
import type { BulkRow } from '../links/create-each.ts';
import type { CreateRequest } from '../links/create-request.ts';
import { domainChoice } from '../links/domain-choice.ts';

/**
 * Returns the rows of a batch whose links exist: each slug, in the row's exact spelling, belongs to a link with
 * the row's destination. Rows with an `external_id` are left to the create.
 */
export async function alreadyImported(
  tx: PoolClient,
  workspaceId: string,
  rows: readonly BulkRow[],
): Promise<Set<BulkRow>> {
  const wanted = rows.flatMap((row) => {
    const slugs = row instanceof AppError || row.externalId !== null ? [] : slugsOf(row);
    return row instanceof AppError || slugs.length === 0 ? [] : [{ row, slugs }];
  });
  const links = await linksBySlugs(
    tx,
    workspaceId,
    wanted.flatMap(({ slugs }) => slugs),
  );
  if (links.length === 0) return new Set();
  const choice = await domainChoice(tx, workspaceId);
  const byName = new Map(links.map((link) => [`${link.domain_number}/${link.slug}`, link]));
  const isThere = ({ row, slugs }: { row: CreateRequest; slugs: string[] }) =>
    slugs.every((slug) => leadsTo(byName.get(`${choice.numberOf(row.domain)}/${slug}`), row));
  return new Set(wanted.filter(isThere).map(({ row }) => row));
}

function slugsOf({ slug, channels }: CreateRequest): string[] {
  if (slug === null) return [];
  return channels.map((channel) => (channel && channels.length > 1 ? channelSlug(slug, channel) : slug));
}

function leadsTo(link: Link | undefined, { campaign }: CreateRequest): boolean {
  if (!link) return false;
  if (campaign.kind === 'existing') return link.destination_id === campaign.id;
  return (
    URL.canParse(link.destination_url) && new URL(link.destination_url).href === campaign.destinationUrl.href
  );
}
