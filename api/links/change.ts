import { utmMediumOf } from '../../core/enrich/channels.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { readAll } from '../../core/faults.ts';
import { type DestinationRules, requireDestination } from '../../core/links/destinations.ts';
import { linkSlugProblem } from '../../core/links/slugs.ts';
import { requireWebUrl } from '../../core/links/web-urls.ts';
import { updateButtonUrls } from '../../sql/bio/buttons.ts';
import type { PoolClient, Queryable } from '../../sql/database/pool.ts';
import { type DestinationChange, updateDestination } from '../../sql/links/destinations.ts';
import { lockFolderShared } from '../../sql/links/folders.ts';
import {
  deleteLink,
  type Link,
  type LinkChange,
  linkByExternalId,
  linkById,
  linksOfDestination,
  lockLink,
  updateLink,
} from '../../sql/links/links.ts';
import { claimSlugs, leaveAlias } from '../../sql/links/slugs.ts';
import { programById, programOfDestination, updateProgramCode } from '../../sql/referrals/programs.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import { BUTTON_URL_LIMIT } from '../bio-pages/schemas.ts';
import { requireCode, requireRoomForReferral } from '../referrals/programs/settings.ts';
import { checkMetadata } from '../schemas.ts';
import { secondOnChannel } from './create.ts';
import { decidedUrls } from './decided-urls.ts';
import { type DomainChoice, domainChoice, redirectUrls, type WantedDomain } from './domain-choice.ts';
import { keepToOwnDomain } from './own-domain.ts';
import type { ChangeBody } from './schemas.ts';
import { checkTimes, readOwnSettings, readSettings, withPasswordHash } from './settings.ts';
import { slugTaken } from './slug-choice.ts';
import { checkSplit, restartedSplit } from './split.ts';

export const noSuchLink = () => new AppError('not_found', 'the workspace has no such link');

/** A validated change of a link and its campaign. */
export type ChangeRequest = {
  domain: WantedDomain;
  link: LinkChange;
  campaign: DestinationChange;
  destinationUrl: URL | null;
};

/**
 * Validates a change body beyond its schema.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export async function readChangeRequest(body: ChangeBody, rules: DestinationRules): Promise<ChangeRequest> {
  const { settings, own, destinationUrl } = checkChange(body, rules);
  return {
    domain: body.domain,
    link: restartedSplit({
      slug: body.slug,
      external_id: body.external_id,
      metadata: body.metadata,
      ...(await withPasswordHash(settings, body)),
      ...own,
    }),
    campaign: {
      name: body.name,
      destination_url: body.destination_url,
      tags: body.tags === undefined ? undefined : [...new Set(body.tags)],
      folder_id: body.folder_id,
    },
    destinationUrl,
  };
}

/**
 * Checks the fields of a change body that its schema accepted. @throws {AppError} `bad_request` that names every fault
 */
export function checkChange(body: ChangeBody, rules: DestinationRules) {
  return readAll({
    destinationUrl: () =>
      body.destination_url === undefined
        ? null
        : requireDestination('destination_url', body.destination_url, rules),
    slug: () => {
      if (body.slug !== undefined && linkSlugProblem(body.slug)) {
        throw badRequest('slug', `must not be "${body.slug}": this slug is reserved`);
      }
    },
    metadata: () => checkMetadata(body.metadata),
    settings: () => readSettings(body, rules),
    own: () => readOwnSettings(body),
  });
}

/**
 * Changes a link and, for all its links, its campaign. A released slug stays reserved for the link: no other link takes
 * over printed links, and this one can have it again. A link that moves to another domain leaves an alias. A program
 * follows a change of its links; a bio page follows its button's link.
 *
 * @throws {AppError} `not_found` (link, folder), `bad_request` (domain, a program's rules), `conflict` (slug,
 *   external_id, channel)
 */
export async function changeLink(
  tx: PoolClient,
  workspaceId: string,
  id: string,
  request: ChangeRequest,
): Promise<Link> {
  const { campaign, destinationUrl } = request;
  // Locked first, as in a create: the same lock order prevents deadlocks.
  const workspace = await lockWorkspace(tx, workspaceId);
  const link = await lockLink(tx, workspaceId, id);
  if (!link) throw noSuchLink();
  const program = await programOfDestination(tx, workspaceId, link.destination_id);
  if (program) keepProgramRules(request);
  const code = program?.id === link.id ? request.link.slug : undefined;
  if (code !== undefined) requireCode('slug', code);
  const choice = await domainChoice(tx, workspaceId);
  choice.refuseOwn(redirectUrls(destinationUrl, request.link));
  const change = { ...request.link, ...movedTo(choice, link, request.domain, program?.id === link.id) };
  if (destinationUrl && !link.external) await keepToOwnDomain(tx, workspace, [destinationUrl]);
  if (campaign.folder_id && !(await lockFolderShared(tx, workspaceId, campaign.folder_id))) {
    throw new AppError('not_found', 'the workspace has no folder with this `folder_id`');
  }
  checkSplit({
    split: change.split === undefined ? link.split : change.split,
    split_ends_at: change.split_ends_at === undefined ? link.split_ends_at : change.split_ends_at,
    split_goal: change.split_goal === undefined ? link.split_goal : change.split_goal,
  });
  const { starts_at, expires_at } = change;
  if (starts_at !== undefined || expires_at !== undefined) {
    checkTimes({
      starts_at: starts_at === undefined ? link.starts_at : starts_at,
      expires_at: expires_at === undefined ? link.expires_at : expires_at,
    });
  }
  await refuseTaken(tx, link, change);
  if (change.external_id === null) await refuseSecondOnChannel(tx, link);
  await updateDestination(tx, workspaceId, link.destination_id, campaign);
  const { destination_url: url } = campaign;
  // A bio button's destination follows the rules of its page.
  if (url !== undefined && (await updateButtonUrls(tx, workspaceId, link.destination_id, url))) {
    requireWebUrl('destination_url', url, BUTTON_URL_LIMIT);
  }
  await updateLink(tx, workspaceId, id, { ...change, ...usualUtm(link, change) });
  if (change.domain_number !== undefined) {
    await leaveAlias(tx, { domainNumber: link.domain_number, slug: link.slug, linkId: id });
  }
  if (code !== undefined) await updateProgramCode(tx, workspaceId, id, code);
  const changed = await linkById(tx, workspaceId, id);
  if (!changed) throw new Error(`link ${id} is gone`);
  return changed;
}

/**
 * Deletes a link, unless it is the code of a program: a program always has a code.
 *
 * @throws {AppError} `not_found`; `conflict` that names the program
 */
export async function removeLink(db: Queryable, workspaceId: string, id: string): Promise<void> {
  const program = await programById(db, workspaceId, id);
  if (program && (await linkById(db, workspaceId, id))) {
    throw new AppError(
      'conflict',
      `the link is the code of the program "${program.name}"; change the code of the program instead`,
    );
  }
  if (!(await deleteLink(db, workspaceId, id))) throw noSuchLink();
}

/** Requires that a program's links can add `ref` to their destinations. */
function keepProgramRules({ link, destinationUrl }: ChangeRequest): void {
  if (destinationUrl) requireRoomForReferral('destination_url', destinationUrl);
  for (const [field, url] of decidedUrls(link)) requireRoomForReferral(field, new URL(url));
}

/** Returns the channel's value for a cleared `utm_source` or `utm_medium`. */
function usualUtm({ channel }: Link, change: LinkChange): LinkChange {
  return {
    ...(change.utm_source === null && { utm_source: channel }),
    ...(change.utm_medium === null && { utm_medium: channel && utmMediumOf(channel) }),
  };
}

async function refuseTaken(
  tx: PoolClient,
  link: Link,
  { domain_number, slug, external_id }: LinkChange,
): Promise<void> {
  if (typeof external_id === 'string') {
    const holder = await linkByExternalId(tx, link.workspace_id, external_id);
    if (holder && holder.id !== link.id) {
      throw new AppError('conflict', `the external_id "${external_id}" is taken`, [
        { path: 'external_id', message: 'is taken' },
      ]);
    }
  }
  if (domain_number === undefined && (slug === undefined || slug === link.slug)) return;
  const name = { domainNumber: domain_number ?? link.domain_number, slug: slug ?? link.slug };
  const claimed = await claimSlugs(tx, [
    { ...name, kind: 'link', targetId: link.id, workspaceId: link.workspace_id },
  ]);
  if (claimed.length === 0) throw slugTaken(name.slug);
}

/** Returns the domain that a link moves to; nothing when it stays. */
function movedTo(
  choice: DomainChoice,
  link: Link,
  wanted: WantedDomain,
  isCode: boolean,
): Pick<LinkChange, 'domain_number'> {
  if (wanted === undefined) return {};
  const { number } = choice.choose(wanted);
  if (number === link.domain_number) return {};
  if (isCode) throw badRequest('domain', 'must be null: the link is the code of a program');
  return { domain_number: number };
}

/**
 * Requires an `external_id` on a second link on a channel, as a create does. Referral links are exempt: a campaign
 * has many without one.
 */
async function refuseSecondOnChannel(tx: PoolClient, link: Link): Promise<void> {
  if (link.external_id === null || link.channel === 'referral') return;
  const siblings = await linksOfDestination(tx, link.workspace_id, link.destination_id);
  const first = siblings.find((sibling) => sibling.channel === link.channel);
  if (!first || first.id === link.id) return;
  throw new AppError('conflict', secondOnChannel(link.channel), [
    { path: 'external_id', message: 'is required for a second link on the channel' },
  ]);
}
