import type { Channel } from '../../core/enrich/channels.ts';
import { AppError } from '../../core/errors.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import type { LinkDomain } from '../../sql/domains/domains.ts';
import { destinationById } from '../../sql/links/destinations.ts';
import { insertLinks, type Link, linkByExternalId, linksOfDestination } from '../../sql/links/links.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import { type Created, createCampaigns, draftsOf, newLink, refuseBeyondCap } from './create-campaigns.ts';
import type { CreateRequest } from './create-request.ts';
import { domainChoice, redirectUrls } from './domain-choice.ts';
import { chooseSlugs } from './slug-choice.ts';

/**
 * Creates a campaign with its links, or adds links to one. A known `external_id` creates nothing and returns its link.
 * Requires the workspace's lock (`lockWorkspace`): the lock makes the cap exact, sets the domain once, and lets the
 * second of two creates with one `external_id` find the first's link.
 *
 * @throws {AppError} `limit_reached`, `bad_request` (domain), `not_found` (campaign, folder), `conflict` (slug,
 *   channel), in this order
 */
export async function createLinks(
  tx: PoolClient,
  workspace: Workspace,
  request: CreateRequest,
): Promise<Created> {
  const { campaign } = request;
  if (campaign.kind === 'existing') return addLinks(tx, workspace, request, campaign.id);
  const [created] = await createCampaigns(tx, workspace, [{ ...request, campaign }]);
  if (!created) throw new Error('the request created no campaign');
  return created;
}

async function addLinks(
  tx: PoolClient,
  workspace: Workspace,
  request: CreateRequest,
  campaignId: string,
): Promise<Created> {
  if (request.externalId !== null) {
    const known = await linkByExternalId(tx, workspace.id, request.externalId);
    if (known) return { made: false, destinationId: known.destination_id, links: [known], workspace };
  }
  await refuseBeyondCap(tx, workspace, request.channels.length);
  const campaign = await destinationById(tx, workspace.id, campaignId);
  if (!campaign) throw new AppError('not_found', 'the workspace has no campaign with this `destination_id`');
  const siblings = await linksOfDestination(tx, workspace.id, campaign.id);
  refuseSecondOnChannel(request, siblings);
  const choice = await domainChoice(tx, workspace.id);
  choice.refuseOwn(redirectUrls(null, request.settings));
  const drafts = draftsOf(request, choice.choose(request.domain, domainOf(siblings.at(-1))));
  const slugs = await chooseSlugs(tx, workspace.id, drafts, request.slug, siblings);
  const links = await insertLinks(
    tx,
    workspace.id,
    drafts.map((draft, nth) => newLink(request, campaign, siblings, draft, slugs[nth] ?? '')),
  );
  return { made: true, destinationId: campaign.id, links, workspace };
}

/** Returns the domain of a campaign's newest link. */
function domainOf(newest: Link | undefined): LinkDomain | undefined {
  return newest && { number: newest.domain_number, domain: newest.domain, is_default: false };
}

function refuseSecondOnChannel(request: CreateRequest, siblings: Link[]): void {
  if (request.externalId !== null) return;
  const taken = request.channels.find((channel) => siblings.some((link) => link.channel === channel));
  if (taken === undefined) return;
  throw new AppError('conflict', secondOnChannel(taken));
}

/** Returns the message for a second link of a campaign on one channel. Null: a Smart Link. */
export function secondOnChannel(channel: Channel | null): string {
  const has = channel === null ? 'a Smart Link' : `a link on ${channel}`;
  return `the campaign has ${has}; a second one requires an \`external_id\` of its own`;
}
