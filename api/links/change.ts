import { requireDestination } from '../../core/destinations.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { linkSlugProblem } from '../../core/slugs.ts';
import { type DestinationChange, updateDestination } from '../../sql/destinations.ts';
import { holdFolder } from '../../sql/folders.ts';
import {
  type Link,
  type LinkChange,
  linkByExternalId,
  linkById,
  lockLink,
  updateLink,
} from '../../sql/links.ts';
import type { PoolClient } from '../../sql/pool.ts';
import { claimSlugs } from '../../sql/slugs.ts';
import { lockWorkspace } from '../../sql/workspaces.ts';
import { checkMetadata } from '../schemas.ts';
import { keepToOwnDomain } from './own-domain.ts';
import type { ChangeBody } from './schemas.ts';
import { readSettings } from './settings.ts';
import { slugTaken } from './slug-choice.ts';

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
 * else can take over printed links, and the link can take it back.
 *
 * @throws {AppError} `not_found` (link, folder), `bad_request` (domain), `conflict` (slug, external_id)
 */
export async function changeLink(
  tx: PoolClient,
  workspaceId: string,
  id: string,
  { link: change, campaign, destinationUrl }: ChangeRequest,
): Promise<Link> {
  // Always first, as in a create, so that the two never wait for each other.
  const workspace = await lockWorkspace(tx, workspaceId);
  const link = await lockLink(tx, workspaceId, id);
  if (!link) throw new AppError('not_found', 'the workspace has no such link');
  if (destinationUrl && !link.external) await keepToOwnDomain(tx, workspace, destinationUrl);
  if (campaign.folder_id && !(await holdFolder(tx, workspaceId, campaign.folder_id))) {
    throw new AppError('not_found', 'folder_id: the workspace has no such folder');
  }
  await refuseTaken(tx, link, change);
  await updateDestination(tx, workspaceId, link.destination_id, campaign);
  await updateLink(tx, workspaceId, id, change);
  const changed = await linkById(tx, workspaceId, id);
  if (!changed) throw new Error(`link ${id} is gone`);
  return changed;
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
