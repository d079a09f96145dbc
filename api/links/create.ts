import { type Channel, utmMediumOf } from '../../core/enrich/channels.ts';
import { AppError } from '../../core/errors.ts';
import { limitsOf } from '../../core/plans.ts';
import { type Destination, destinationById, insertDestination } from '../../sql/destinations.ts';
import { holdFolder } from '../../sql/folders.ts';
import {
  insertLinks,
  type Link,
  type LinkSettings,
  linkByExternalId,
  linksOfDestination,
  type NewLink,
  newLinkId,
} from '../../sql/links.ts';
import type { PoolClient } from '../../sql/pool.ts';
import { countLinks } from '../../sql/usage.ts';
import type { Workspace } from '../../sql/workspaces.ts';
import type { CreateRequest, NewCampaign } from './create-request.ts';
import { keepToOwnDomain } from './own-domain.ts';
import { chooseSlugs } from './slug-choice.ts';

/** The links that a create answers with, whether it made them, and the workspace as it is afterwards. */
export type Created = { made: boolean; destinationId: string; links: Link[]; workspace: Workspace };

/**
 * Creates a campaign with its links, or adds links to one; with a known `external_id` it creates nothing and gives
 * that link. All of it happens under the workspace's lock (`lockWorkspace`), so that the cap is exact, a first own-site link sets the
 * domain once, and of two creates with one `external_id` the second finds the first's link.
 *
 * @throws {AppError} `limit_reached`, `bad_request` (domain), `not_found` (campaign, folder), `conflict` (slug,
 *   channel), in this order
 */
export async function createLinks(
  tx: PoolClient,
  workspace: Workspace,
  request: CreateRequest,
): Promise<Created> {
  if (request.externalId !== null) {
    const known = await linkByExternalId(tx, workspace.id, request.externalId);
    if (known) return { made: false, destinationId: known.destination_id, links: [known], workspace };
  }
  await refuseBeyondCap(tx, workspace, request.channels.length);
  const { campaign, siblings, primaryDomain } = await campaignOf(tx, workspace, request);
  refuseSecondOnChannel(request, siblings);
  const settings = { ...inheritedSettings(campaign, siblings), ...definedOf(request.settings) };
  const drafts = request.channels.map((channel) => ({ id: newLinkId(), channel }));
  const slugs = await chooseSlugs(tx, workspace.id, drafts, request.slug, siblings);
  const links = await insertLinks(tx, {
    campaign,
    links: drafts.map(
      ({ id, channel }, index): NewLink => ({
        ...settings,
        id,
        channel,
        slug: slugs[index] ?? '',
        external_id: request.externalId,
        metadata: request.metadata,
        utm_source: channel,
        utm_medium: channel && utmMediumOf(channel),
      }),
    ),
  });
  return {
    made: true,
    destinationId: campaign.id,
    links,
    workspace: { ...workspace, primary_domain: primaryDomain },
  };
}

async function refuseBeyondCap(tx: PoolClient, workspace: Workspace, more: number): Promise<void> {
  const { links: cap } = limitsOf(workspace);
  if (cap === null || (await countLinks(tx, workspace.id, cap)) + more <= cap) return;
  throw new AppError('limit_reached', `the plan allows ${cap} links`);
}

async function campaignOf(
  tx: PoolClient,
  workspace: Workspace,
  request: CreateRequest,
): Promise<{ campaign: Destination; siblings: Link[]; primaryDomain: string | null }> {
  if (request.campaign.kind === 'new') {
    return { ...(await createCampaign(tx, workspace, request.campaign)), siblings: [] };
  }
  const campaign = await destinationById(tx, workspace.id, request.campaign.id);
  if (!campaign) throw new AppError('not_found', 'destination_id: the workspace has no such campaign');
  const siblings = await linksOfDestination(tx, workspace.id, campaign.id);
  return { campaign, siblings, primaryDomain: workspace.primary_domain };
}

async function createCampaign(
  tx: PoolClient,
  workspace: Workspace,
  given: NewCampaign,
): Promise<{ campaign: Destination; primaryDomain: string | null }> {
  const primaryDomain = given.external
    ? workspace.primary_domain
    : await keepToOwnDomain(tx, workspace, given.destinationUrl);
  if (given.folderId !== null && !(await holdFolder(tx, workspace.id, given.folderId))) {
    throw new AppError('not_found', 'folder_id: the workspace has no such folder');
  }
  const campaign = await insertDestination(tx, {
    workspace_id: workspace.id,
    name: given.name,
    destination_url: given.destinationText,
    external: given.external,
    tags: given.tags,
    folder_id: given.folderId,
  });
  return { campaign, primaryDomain };
}

function refuseSecondOnChannel(request: CreateRequest, siblings: Link[]): void {
  if (request.externalId !== null) return;
  const taken = request.channels.find((channel) => siblings.some((link) => link.channel === channel));
  if (taken === undefined) return;
  throw new AppError('conflict', secondOnChannel(taken));
}

/** Why a campaign's second link on a channel is refused; null: a Smart Link. */
export function secondOnChannel(channel: Channel | null): string {
  const has = channel === null ? 'a Smart Link' : `a link on ${channel}`;
  return `the campaign has ${has}; a second one needs a distinct external_id`;
}

/** What a new link of the campaign has when the create does not say: what its first link has. */
function inheritedSettings(campaign: Destination, siblings: Link[]): LinkSettings {
  const [first] = siblings;
  return {
    utm_campaign: first ? first.utm_campaign : campaign.name,
    targeting: first?.targeting ?? null,
    expires_at: first?.expires_at ?? null,
    max_clicks: first?.max_clicks ?? null,
    expired_redirect_url: first?.expired_redirect_url ?? null,
    password_hash: first?.password_hash ?? null,
    retargeting: first?.retargeting ?? null,
  };
}

function definedOf(settings: Partial<LinkSettings>): Partial<LinkSettings> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
