import { AppError, badRequest } from '../../core/errors.ts';
import { requireDestination } from '../../core/links/destinations.ts';
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
import { claimSlugs } from '../../sql/links/slugs.ts';
import { programById, programOfDestination, updateProgramCode } from '../../sql/referrals/programs.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import { BUTTON_URL_LIMIT } from '../bio-pages/schemas.ts';
import { requireCode, requireRoomForReferral } from '../programs/settings.ts';
import { checkMetadata } from '../schemas.ts';
import { secondOnChannel } from './create.ts';
import { keepToOwnDomain } from './own-domain.ts';
import type { ChangeBody } from './schemas.ts';
import { readSettings } from './settings.ts';
import { slugTaken } from './slug-choice.ts';

export const noSuchLink = () => new AppError('not_found', 'the workspace has no such link');

/** A change of a link and its campaign, once everything that needs no store has been checked. */
export type ChangeRequest = { link: LinkChange; campaign: DestinationChange; destinationUrl: URL | null };

/**
 * Checks a change body beyond its schema.
 *
 * @throws {AppError} `bad_request` that names the field
 */
export async function readChangeRequest(
  body: ChangeBody,
  rules: { shortUrl: string },
): Promise<ChangeRequest> {
  checkMetadata(body.metadata);
  if (body.slug !== undefined && linkSlugProblem(body.slug)) {
    throw badRequest('slug', `"${body.slug}" is reserved`);
  }
  const destinationUrl =
    body.destination_url === undefined
      ? null
      : requireDestination('destination_url', body.destination_url, rules);
  return {
    link: {
      slug: body.slug,
      external_id: body.external_id,
      metadata: body.metadata,
      ...(await readSettings(body, rules)),
    },
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
 * Changes a link and, for all its links, its campaign. A slug that the link gives up stays reserved for it: nobody
 * else can take over printed links, and the link can take it back. A programme follows a change of its links, and a bio
 * page where its button's link leads.
 *
 * @throws {AppError} `not_found` (link, folder), `bad_request` (domain, a programme's rules), `conflict` (slug,
 *   external_id, channel)
 */
export async function changeLink(
  tx: PoolClient,
  workspaceId: string,
  id: string,
  request: ChangeRequest,
): Promise<Link> {
  const { link: change, campaign, destinationUrl } = request;
  // Always first, as in a create, so that the two never wait for each other.
  const workspace = await lockWorkspace(tx, workspaceId);
  const link = await lockLink(tx, workspaceId, id);
  if (!link) throw noSuchLink();
  const program = await programOfDestination(tx, workspaceId, link.destination_id);
  if (program) keepProgramRules(request);
  const code = program?.id === link.id ? change.slug : undefined;
  if (code !== undefined) requireCode('slug', code);
  if (destinationUrl && !link.external) await keepToOwnDomain(tx, workspace, [destinationUrl]);
  if (campaign.folder_id && !(await lockFolderShared(tx, workspaceId, campaign.folder_id))) {
    throw new AppError('not_found', 'folder_id: the workspace has no such folder');
  }
  await refuseTaken(tx, link, change);
  if (change.external_id === null) await refuseSecondOnChannel(tx, link);
  await updateDestination(tx, workspaceId, link.destination_id, campaign);
  const { destination_url: url } = campaign;
  // A bio button leads where its campaign does, by the rules of its page.
  if (url !== undefined && (await updateButtonUrls(tx, workspaceId, link.destination_id, url))) {
    requireWebUrl('destination_url', url, BUTTON_URL_LIMIT);
  }
  await updateLink(tx, workspaceId, id, change);
  if (code !== undefined) await updateProgramCode(tx, workspaceId, id, code);
  const changed = await linkById(tx, workspaceId, id);
  if (!changed) throw new Error(`link ${id} is gone`);
  return changed;
}

/**
 * Deletes a link, but not the one that a programme's code is: a programme has a code as long as there is the programme.
 *
 * @throws {AppError} `not_found`; `conflict` that names the programme
 */
export async function removeLink(db: Queryable, workspaceId: string, id: string): Promise<void> {
  const program = await programById(db, workspaceId, id);
  if (program && (await linkById(db, workspaceId, id))) {
    throw new AppError(
      'conflict',
      `the link is the code of the programme "${program.name}", which may get another code instead`,
    );
  }
  if (!(await deleteLink(db, workspaceId, id))) throw noSuchLink();
}

/** The links of a programme's campaign add `ref` to wherever they lead. */
function keepProgramRules({ link, destinationUrl }: ChangeRequest): void {
  if (destinationUrl) requireRoomForReferral('destination_url', destinationUrl);
  const { mobile, desktop } = link.targeting ?? {};
  if (mobile !== undefined) requireRoomForReferral('targeting.mobile', new URL(mobile));
  if (desktop !== undefined) requireRoomForReferral('targeting.desktop', new URL(desktop));
}

async function refuseTaken(tx: PoolClient, link: Link, { slug, external_id }: LinkChange): Promise<void> {
  if (typeof external_id === 'string') {
    const holder = await linkByExternalId(tx, link.workspace_id, external_id);
    if (holder && holder.id !== link.id) {
      throw new AppError('conflict', `the external_id "${external_id}" is taken`, [
        { path: 'external_id', message: 'is taken' },
      ]);
    }
  }
  if (slug === undefined || slug === link.slug) return;
  const claimed = await claimSlugs(tx, [
    { slug, kind: 'link', targetId: link.id, workspaceId: link.workspace_id },
  ]);
  if (claimed.length === 0) throw slugTaken(slug);
}

/** What a create needs of a second link on a channel, it keeps. Referral links of a campaign have none, and are many. */
async function refuseSecondOnChannel(tx: PoolClient, link: Link): Promise<void> {
  if (link.external_id === null || link.channel === 'referral') return;
  const siblings = await linksOfDestination(tx, link.workspace_id, link.destination_id);
  const first = siblings.find((sibling) => sibling.channel === link.channel);
  if (!first || first.id === link.id) return;
  throw new AppError('conflict', secondOnChannel(link.channel), [
    { path: 'external_id', message: 'is needed by a second link on the channel' },
  ]);
}
