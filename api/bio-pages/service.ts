import { setTimeout as sleep } from 'node:timers/promises';
import { writeToEach } from '../../analytics/replicas/write-to-each.ts';
import { hideLinks } from '../../clickhouse/erasures.ts';
import { RECENT_MS } from '../../clickhouse/readers/readers.ts';
import { picturesOf } from '../../core/bio/pictures.ts';
import { DEFAULT_THEME, mergeTheme } from '../../core/bio/theme.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { badFields } from '../../core/faults.ts';
import { isUuid } from '../../core/ids.ts';
import { normalizeBioSlug } from '../../core/links/slugs.ts';
import { deleteLinksOfPage } from '../../sql/bio/button-links.ts';
import { buttonsOfPages, replaceButtons, type TrackedButton } from '../../sql/bio/buttons.ts';
import {
  type BioPage,
  type BioPageFields,
  bioPageByExternalId,
  deleteBioPage,
  findBioPage,
  insertBioPage,
  newBioPageId,
  type PageOrigin,
  reclaimBioSlug,
  updateBioPage,
} from '../../sql/bio/pages.ts';
import { touchPictures } from '../../sql/bio/pictures.ts';
import type { PoolClient, Queryable } from '../../sql/database/pool.ts';
import { requestErasure } from '../../sql/erasure/erasures.ts';
import { recordMissed } from '../../sql/event-log/replica-repairs.ts';
import { deleteLink } from '../../sql/links/links.ts';
import { claimSlugs } from '../../sql/links/slugs.ts';
import { lockWorkspace, type Workspace } from '../../sql/workspaces/workspaces.ts';
import type { ApiDeps, Auth } from '../dependencies.ts';
import type { PageRequest } from './page-request.ts';
import { type TrackingRules, trackButtons } from './tracking.ts';

const noSuchPage = () => new AppError('not_found', 'the workspace has no such bio page');

/** The saved page and buttons, and the links whose history must be deleted. */
export type Saved = { page: BioPage; buttons: TrackedButton[]; removed: string[] };

/**
 * A workspace, and the pages that the caller may see: the console does not see pages made by the API; a key sees
 * all (`madeIn` null).
 */
export type Shelf = { workspaceId: string; madeIn: PageOrigin | null };

/** Returns the pages that a caller may see and change. */
export function shelfOf({ workspace, member }: Auth): Shelf {
  return { workspaceId: workspace.id, madeIn: member ? 'console' : null };
}

/** Returns the page with an id or slug. @throws {AppError} `not_found` */
export async function requirePage(
  db: Queryable,
  { workspaceId, madeIn }: Shelf,
  idOrSlug: string,
): Promise<BioPage> {
  const page = await findBioPage(db, workspaceId, {
    id: isUuid(idOrSlug) ? idOrSlug : null,
    slug: normalizeBioSlug(idOrSlug),
    madeIn,
  });
  if (!page) throw noSuchPage();
  return page;
}

/**
 * Creates a page with its buttons and their short links. A known `external_id` creates nothing and returns its
 * page.
 *
 * @param slug validated and normalized
 * @throws {AppError} `conflict` when the slug is taken, or the `external_id` by a page that the caller may not see
 */
export async function createPage(
  tx: PoolClient,
  { workspaceId, madeIn }: Shelf,
  request: PageRequest & { slug: string; external_id: string | null },
  rules: TrackingRules,
): Promise<Saved & { made: boolean }> {
  const workspace = await lockWorkspace(tx, workspaceId);
  if (request.external_id !== null) {
    const known = await bioPageByExternalId(tx, workspaceId, request.external_id);
    if (known && madeIn !== null && known.made_in !== madeIn) {
      throw new AppError('conflict', 'the `external_id` belongs to another page of the workspace');
    }
    if (known) return { ...(await withButtons(tx, known)), made: false };
  }
  const id = newBioPageId();
  await claimSlug(tx, { slug: request.slug, pageId: id, workspaceId });
  await insertBioPage(tx, {
    ...changedFields(EMPTY, request),
    id,
    workspace_id: workspaceId,
    slug: request.slug,
    external_id: request.external_id,
    made_in: madeIn ?? 'api',
  });
  await requirePictures(tx, workspaceId, request);
  const saved = await saveButtons(tx, workspace, { id, slug: request.slug }, request, [], rules);
  return { ...saved, made: true };
}

/**
 * Changes a page. Buttons without a short link get one if possible, also when the request names no buttons.
 */
export async function changePage(
  tx: PoolClient,
  shelf: Shelf,
  idOrSlug: string,
  request: PageRequest,
  rules: TrackingRules,
): Promise<Saved> {
  const workspace = await lockWorkspace(tx, shelf.workspaceId);
  const page = await requirePage(tx, shelf, idOrSlug);
  const current = await withButtons(tx, page);
  await requirePictures(tx, workspace.id, request);
  await updateBioPage(tx, workspace.id, page.id, changedFields(page, request));
  return saveButtons(tx, workspace, page, request, current.buttons, rules);
}

/**
 * Deletes a page, its buttons and their short links.
 *
 * @returns the page's id, and the links whose history must be deleted
 */
export async function removePage(
  tx: PoolClient,
  shelf: Shelf,
  idOrSlug: string,
): Promise<{ pageId: string; links: string[] }> {
  const { workspaceId } = shelf;
  await lockWorkspace(tx, workspaceId);
  const page = await requirePage(tx, shelf, idOrSlug);
  const links = await deleteLinksOfPage(tx, { id: page.id, workspaceId });
  for (const id of links) await deleteLink(tx, workspaceId, id);
  await askForErasure(tx, workspaceId, links);
  await deleteBioPage(tx, workspaceId, page.id);
  return { pageId: page.id, links };
}

/**
 * Hides removed links from reports once their removal is committed. If ClickHouse is down, the workers do it
 * later: the erasure was requested in the same transaction.
 */
export async function hideHistory(
  { pool, replicas, log }: Pick<ApiDeps, 'pool' | 'replicas' | 'log'>,
  workspaceId: string,
  links: string[],
): Promise<void> {
  if (links.length === 0) return;
  try {
    const hidden = links.map((targetId) => ({ workspaceId, targetId }));
    const stored = await writeToEach(
      pool,
      { replicas, log },
      {
        what: 'deleted links',
        write: (clickhouse) => hideLinks(clickhouse, hidden),
      },
    );
    if (replicas.length === stored.length) return;
    const of = links.map((id) => ({ work: 'erasures' as const, subject: `${workspaceId}/link/${id}` }));
    await recordMissed(pool, { stored, of });
    await sleep(RECENT_MS); // until no reader takes a replica that missed it for one that may be read
  } catch (error) {
    log.warn(
      { err: error, workspace: workspaceId, links },
      'failed to hide the history of removed buttons; will retry',
    );
  }
}

async function saveButtons(
  tx: PoolClient,
  workspace: Workspace,
  page: { id: string; slug: string },
  request: PageRequest,
  current: TrackedButton[],
  rules: TrackingRules,
): Promise<Saved> {
  const wanted =
    request.buttons ??
    current.map(({ id, type, label, url, emoji, image_url }) => ({ id, type, label, url, emoji, image_url }));
  const { buttons, removed } = await trackButtons(tx, workspace, page, wanted, current, rules);
  await replaceButtons(tx, { id: page.id, workspaceId: workspace.id }, buttons);
  await askForErasure(tx, workspace.id, removed);
  return {
    ...(await withButtons(tx, await requirePage(tx, { workspaceId: workspace.id, madeIn: null }, page.id))),
    removed,
  };
}

/** @throws {AppError} `bad_request` for an address of a picture that the workspace has not uploaded, or that is deleted */
async function requirePictures(tx: Queryable, workspaceId: string, request: PageRequest): Promise<void> {
  const wanted = picturesOf(request);
  const there = await touchPictures(tx, workspaceId, [...wanted.keys()]);
  const missing = [...wanted].filter(([name]) => !there.includes(name));
  if (missing.length === 0) return;
  throw badFields(
    missing.map(([, path]) => ({ path, message: 'must be a picture of the workspace: upload it again' })),
  );
}

async function withButtons(db: Queryable, page: BioPage): Promise<Saved> {
  const buttons = await buttonsOfPages(db, page.workspace_id, [page.id]);
  return { page, buttons: buttons.get(page.id) ?? [], removed: [] };
}

async function askForErasure(tx: Queryable, workspaceId: string, links: string[]): Promise<void> {
  for (const targetId of links) await requestErasure(tx, { workspaceId, kind: 'link', targetId });
}

async function claimSlug(
  tx: Queryable,
  given: { slug: string; pageId: string; workspaceId: string },
): Promise<void> {
  const { slug, pageId: targetId, workspaceId } = given;
  const claimed = await claimSlugs(tx, [{ slug, kind: 'bio_page', targetId, workspaceId }]);
  if (claimed.length === 0 && !(await reclaimBioSlug(tx, given))) {
    throw new AppError('conflict', `the slug "${slug}" is taken`);
  }
}

const EMPTY: BioPageFields = {
  title: '',
  bio: '',
  avatar_url: null,
  avatar_width: null,
  avatar_height: null,
  theme: DEFAULT_THEME,
  social_links: [],
  is_published: true,
  show_branding: true,
  language: null,
  metadata: null,
};

/** @throws {AppError} `bad_request` for a size without a picture, or one side alone */
function changedAvatar(
  current: BioPageFields,
  request: PageRequest,
): Pick<BioPageFields, 'avatar_url' | 'avatar_width' | 'avatar_height'> {
  const avatar_url = request.avatar_url === undefined ? current.avatar_url : request.avatar_url;
  const sized = avatar_url === current.avatar_url ? current : EMPTY;
  const { avatar_width = sized.avatar_width, avatar_height = sized.avatar_height } = request;
  if ((avatar_width === null) !== (avatar_height === null)) {
    const missing = avatar_width === null ? 'avatar_width' : 'avatar_height';
    throw badRequest(missing, 'is required with the other side of the picture');
  }
  if (avatar_width !== null && avatar_url === null) {
    throw badRequest('avatar_width', 'is allowed only with an `avatar_url`');
  }
  return { avatar_url, avatar_width, avatar_height };
}

function changedFields(current: BioPageFields, request: PageRequest): BioPageFields {
  return {
    title: request.title ?? current.title,
    bio: request.bio ?? current.bio,
    ...changedAvatar(current, request),
    theme: mergeTheme(current.theme, request.theme ?? {}),
    social_links: request.social_links ?? current.social_links,
    is_published: request.is_published ?? current.is_published,
    show_branding: request.show_branding ?? current.show_branding,
    language: request.language === undefined ? current.language : request.language,
    metadata: request.metadata === undefined ? current.metadata : request.metadata,
  };
}
