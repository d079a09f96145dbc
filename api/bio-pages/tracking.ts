import { isOnOrigin } from '../../core/destinations.ts';
import { utmMediumOf } from '../../core/enrich/channels.ts';
import type { Logger } from '../../core/log.ts';
import { limitsOf } from '../../core/plans.ts';
import { generateSlug } from '../../core/slugs.ts';
import type { BioButton, TrackedButton } from '../../sql/bio-buttons.ts';
import { insertDestination, updateDestination } from '../../sql/destinations.ts';
import { deleteLink, insertLinks, newLinkId } from '../../sql/links.ts';
import type { PoolClient } from '../../sql/pool.ts';
import { claimSlugs } from '../../sql/slugs.ts';
import { countLinks } from '../../sql/usage.ts';
import type { Workspace } from '../../sql/workspaces.ts';
import type { WantedButton } from './page-request.ts';

const CHANNEL = 'bio';
/** A taken random slug is tried again; that many times in a row does not happen by chance. */
const SLUG_TRIES = 8;

export type TrackingRules = { shortUrl: string; log: Pick<Logger, 'warn'> };

/** Buttons as they are to be stored, and the short links of buttons that are gone: their history must go too. */
export type TrackedList = { buttons: BioButton[]; removed: string[] };

/**
 * Gives each link button its short link: the one that it has, as long as its id stays, or a new one. Nothing about
 * it makes a save fail: a button that gets none leads straight to its URL, and the next save tries again. One that has
 * moved to where no short link may lead loses its own as by `DELETE /links/:id`: the button stays, and so does its
 * history. The caller holds the workspace's lock, so that the cap is exact.
 *
 * @param page the slug is what the links' `utm_campaign` says
 * @param current what the page has now
 */
export async function trackButtons(
  tx: PoolClient,
  workspace: Workspace,
  page: { slug: string },
  wanted: WantedButton[],
  current: TrackedButton[],
  rules: TrackingRules,
): Promise<TrackedList> {
  const before = new Map(current.map((button) => [button.id, button]));
  const kept = new Set<string>();
  const stale = new Set<string>();
  const buttons: BioButton[] = [];
  for (const button of wanted) {
    const old = before.get(button.id);
    const oldLink = button.type === 'link' ? (old?.link_id ?? null) : null;
    const linkId = mayHaveLink(button, rules) ? oldLink : null;
    if (old && linkId !== null) {
      kept.add(linkId);
      await followButton(tx, workspace.id, old, button);
    } else if (oldLink !== null) {
      stale.add(oldLink);
    }
    buttons.push({ ...button, link_id: linkId });
  }
  const unused = current.flatMap(({ link_id }) => (link_id !== null && !kept.has(link_id) ? [link_id] : []));
  for (const id of unused) await deleteLink(tx, workspace.id, id);
  const removed = unused.filter((id) => !stale.has(id));
  return { buttons: await linkButtons(tx, workspace, page, buttons, rules), removed };
}

/** A short link that led to a short link could lead to itself. */
function mayHaveLink({ type, url }: WantedButton, { shortUrl }: TrackingRules): boolean {
  return type === 'link' && url !== null && !isOnOrigin(url, shortUrl);
}

/** A short link leads where its button says, and its campaign is called what the button is. */
async function followButton(
  tx: PoolClient,
  workspaceId: string,
  old: TrackedButton,
  button: WantedButton,
): Promise<void> {
  if (old.destination_id === null || button.url === null) return;
  const moved = button.url !== old.destination_url;
  const renamed = button.label !== old.label;
  if (!moved && !renamed) return;
  await updateDestination(tx, workspaceId, old.destination_id, {
    ...(moved && { destination_url: button.url }),
    ...(renamed && { name: campaignName(button) }),
  });
}

async function linkButtons(
  tx: PoolClient,
  workspace: Workspace,
  page: { slug: string },
  buttons: BioButton[],
  rules: TrackingRules,
): Promise<BioButton[]> {
  const missing = buttons.filter((button) => button.link_id === null && mayHaveLink(button, rules));
  if (missing.length === 0) return buttons;
  await tx.query('SAVEPOINT tracking');
  try {
    const { links: cap } = limitsOf(workspace);
    const room = cap === null ? missing.length : cap - (await countLinks(tx, workspace.id, cap));
    const made = new Map<string, string>();
    for (const button of missing.slice(0, Math.max(0, room))) {
      made.set(button.id, await makeLink(tx, workspace.id, page, button));
    }
    await tx.query('RELEASE SAVEPOINT tracking');
    return buttons.map((button) => ({ ...button, link_id: button.link_id ?? made.get(button.id) ?? null }));
  } catch (error) {
    await tx.query('ROLLBACK TO SAVEPOINT tracking');
    rules.log.warn(
      { err: error, workspace: workspace.id, page: page.slug },
      'buttons saved without short links',
    );
    return buttons;
  }
}

async function makeLink(
  tx: PoolClient,
  workspaceId: string,
  page: { slug: string },
  button: BioButton,
): Promise<string> {
  const id = newLinkId();
  const slug = await claimRandomSlug(tx, workspaceId, id);
  const campaign = await insertDestination(tx, {
    workspace_id: workspaceId,
    name: campaignName(button),
    destination_url: button.url ?? '',
    // A button may lead to any site, and never sets or needs the workspace's own domain.
    external: true,
    tags: [],
    folder_id: null,
  });
  await insertLinks(tx, {
    campaign,
    links: [
      {
        id,
        slug,
        channel: CHANNEL,
        external_id: null,
        metadata: null,
        utm_source: CHANNEL,
        utm_medium: utmMediumOf(CHANNEL),
        utm_campaign: page.slug,
        targeting: null,
        expires_at: null,
        max_clicks: null,
        expired_redirect_url: null,
        password_hash: null,
        retargeting: null,
      },
    ],
  });
  return id;
}

async function claimRandomSlug(tx: PoolClient, workspaceId: string, targetId: string): Promise<string> {
  for (let left = SLUG_TRIES; left > 0; left--) {
    const slug = generateSlug();
    const claimed = await claimSlugs(tx, [{ slug, kind: 'link', targetId, workspaceId }]);
    if (claimed.length > 0) return slug;
  }
  throw new Error('no random slug is free');
}

function campaignName({ label, url }: WantedButton): string {
  return label.trim() || (URL.parse(url ?? '')?.host ?? 'bio');
}
