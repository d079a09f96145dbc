import { limitsOf } from '../../core/access/plans.ts';
import { utmMediumOf } from '../../core/enrich/channels.ts';
import { AppError } from '../../core/errors.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import type { LinkDomain } from '../../sql/domains/domains.ts';
import { type Destination, insertDestinations } from '../../sql/links/destinations.ts';
import { lockFolderShared } from '../../sql/links/folders.ts';
import { type LinkSettings, NO_SETTINGS, settingsOf } from '../../sql/links/link-settings.ts';
import {
  insertLinks,
  type Link,
  linksByExternalIds,
  type NewLink,
  newLinkId,
} from '../../sql/links/links.ts';
import { countLinks } from '../../sql/workspaces/usage.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import type { CreateRequest, NewCampaign } from './create-request.ts';
import { domainChoice, redirectUrls } from './domain-choice.ts';
import { keepToOwnDomain } from './own-domain.ts';
import { checkTimes, type OwnSettings } from './settings.ts';
import { claimFresh, type Draft, slugDrafts } from './slug-choice.ts';
import { checkSplit, withoutSplit } from './split.ts';

/** The links of a create, new or existing, and the workspace after it. */
export type Created = { made: boolean; destinationId: string; links: Link[]; workspace: Workspace };

/** A create with a new campaign. */
export type CampaignRequest = CreateRequest & { campaign: NewCampaign };

/**
 * Creates campaigns with their links in a fixed number of statements. A known `external_id` creates nothing and
 * returns its link. Requires the workspace's lock (`lockWorkspace`).
 *
 * @param requests no two with one `external_id` or one slug
 * @returns the outcomes in the order of the requests
 * @throws {AppError} the first error of any request, in the order of `createLinks`; the caller rolls back
 */
export async function createCampaigns(
  tx: PoolClient,
  workspace: Workspace,
  requests: CampaignRequest[],
): Promise<Created[]> {
  const known = await knownLinks(tx, workspace.id, requests);
  const open = requests.filter((request) => !known.has(request));
  const { made, primaryDomain } = await createUnknown(tx, workspace, open);
  const after = { ...workspace, primary_domain: primaryDomain };
  return requests.map((request) => {
    const links = made.get(request) ?? known.get(request) ?? [];
    const [first] = links;
    if (!first) throw new Error('the request created no link');
    return { made: made.has(request), destinationId: first.destination_id, links, workspace: after };
  });
}

/** Returns the existing links of the requests whose `external_id` is known. */
async function knownLinks(
  tx: PoolClient,
  workspaceId: string,
  requests: CampaignRequest[],
): Promise<Map<CampaignRequest, Link[]>> {
  const ids = requests.flatMap(({ externalId }) => externalId ?? []);
  if (ids.length === 0) return new Map();
  const links = await linksByExternalIds(tx, workspaceId, ids);
  const byId = new Map(links.map((link) => [link.external_id, link]));
  return new Map(
    requests.flatMap((request) => {
      const link = request.externalId === null ? undefined : byId.get(request.externalId);
      return link ? [[request, [link]]] : [];
    }),
  );
}

async function createUnknown(
  tx: PoolClient,
  workspace: Workspace,
  requests: CampaignRequest[],
): Promise<{ made: Map<CampaignRequest, Link[]>; primaryDomain: string | null }> {
  if (requests.length === 0) return { made: new Map(), primaryDomain: workspace.primary_domain };
  await refuseBeyondCap(tx, workspace, requests.flatMap(({ channels }) => channels).length);
  const own = requests.filter(({ campaign }) => !campaign.external);
  const primaryDomain = await keepToOwnDomain(
    tx,
    workspace,
    own.map(({ campaign }) => campaign.destinationUrl),
  );
  const campaigns = await insertCampaigns(tx, workspace.id, requests);
  return { made: await insertTheirLinks(tx, workspace.id, campaigns), primaryDomain };
}

/** @throws {AppError} `limit_reached` when the plan does not allow `more` links */
export async function refuseBeyondCap(tx: PoolClient, workspace: Workspace, more: number): Promise<void> {
  const { links: cap } = limitsOf(workspace);
  if (cap === null || (await countLinks(tx, workspace.id, cap)) + more <= cap) return;
  throw beyondCap(cap);
}

/** Returns the error of a create beyond the limit of the plan. */
export const beyondCap = (cap: number): AppError =>
  new AppError('limit_reached', `the plan allows ${cap} links`);

async function insertCampaigns(
  tx: PoolClient,
  workspaceId: string,
  requests: CampaignRequest[],
): Promise<Map<CampaignRequest, Destination>> {
  const folders = new Set(requests.flatMap(({ campaign }) => campaign.folderId ?? []));
  for (const folder of folders) {
    if (await lockFolderShared(tx, workspaceId, folder)) continue;
    throw new AppError('not_found', 'the workspace has no folder with this `folder_id`');
  }
  const campaigns = await insertDestinations(
    tx,
    workspaceId,
    requests.map(({ campaign }) => ({
      name: campaign.name,
      destination_url: campaign.destinationText,
      external: campaign.external,
      tags: campaign.tags,
      folder_id: campaign.folderId,
    })),
  );
  return new Map(campaigns.flatMap((campaign, nth) => (requests[nth] ? [[requests[nth], campaign]] : [])));
}

async function insertTheirLinks(
  tx: PoolClient,
  workspaceId: string,
  campaigns: Map<CampaignRequest, Destination>,
): Promise<Map<CampaignRequest, Link[]>> {
  const choice = await domainChoice(tx, workspaceId);
  for (const { campaign, settings } of campaigns.keys()) {
    choice.refuseOwn(redirectUrls(campaign.destinationUrl, settings));
  }
  const drafts = [...campaigns].flatMap(([request, campaign]) =>
    slugDrafts(draftsOf(request, choice.choose(request.domain)), request.slug).map((draft) => ({
      request,
      campaign,
      draft,
    })),
  );
  const slugs = await claimFresh(
    tx,
    workspaceId,
    drafts.map(({ draft }) => draft),
  );
  const links = await insertLinks(
    tx,
    workspaceId,
    drafts.map(({ request, campaign, draft }, nth) =>
      newLink(request, campaign, [], draft, slugs[nth] ?? ''),
    ),
  );
  const made = new Map<CampaignRequest, Link[]>([...campaigns.keys()].map((request) => [request, []]));
  for (const [nth, { request }] of drafts.entries()) made.get(request)?.push(...links.slice(nth, nth + 1));
  return made;
}

/** Returns a draft for each requested channel. */
export function draftsOf({ channels }: CreateRequest, domain: LinkDomain): Draft[] {
  return channels.map((channel) => ({ id: newLinkId(), channel, domain }));
}

/** Returns the new link of one channel. @param siblings the campaign's existing links, oldest first */
export function newLink(
  request: CreateRequest,
  campaign: Destination,
  siblings: Link[],
  { id, channel, domain }: Draft,
  slug: string,
): NewLink {
  const settings = {
    ...inheritedSettings(campaign, siblings),
    ...definedOf(withoutSplit(request.settings)),
  };
  checkSplit(settings);
  const { own } = request;
  checkTimes({ starts_at: own.starts_at, expires_at: settings.expires_at });
  const inherited = ownUtm(siblings, own);
  return {
    ...settings,
    campaign,
    id,
    channel,
    domain_number: domain.number,
    domain: domain.domain,
    slug,
    external_id: request.externalId,
    metadata: request.metadata,
    utm_source: own.utm_source ?? inherited.utm_source ?? channel,
    utm_medium: own.utm_medium ?? inherited.utm_medium ?? (channel && utmMediumOf(channel)),
    starts_at: own.starts_at ?? null,
    archived: own.archived ?? false,
  };
}

/** Returns the UTM parameters of the campaign's first link that differ from its channel's. */
function ownUtm([first]: Link[], { utm_source, utm_medium }: OwnSettings) {
  const { channel = null } = first ?? {};
  const other = (sent: string | null | undefined, value: string | null | undefined, usual: string | null) =>
    sent === null || value === undefined || value === usual ? null : value;
  return {
    utm_source: other(utm_source, first?.utm_source, channel),
    utm_medium: other(utm_medium, first?.utm_medium, channel && utmMediumOf(channel)),
  };
}

/** Returns the settings that a new link copies from the campaign's first link. */
function inheritedSettings(campaign: Destination, siblings: Link[]): LinkSettings {
  const [first] = siblings;
  return first ? settingsOf(first) : { ...NO_SETTINGS, utm_campaign: campaign.name };
}

function definedOf(settings: Partial<LinkSettings>): Partial<LinkSettings> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
