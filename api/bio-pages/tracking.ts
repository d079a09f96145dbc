import { limitsOf } from '../../core/access/plans.ts';
import { utmMediumOf } from '../../core/enrich/channels.ts';
import { isOnHost, isOnOrigin } from '../../core/links/destinations.ts';
import { generateSlug } from '../../core/links/slugs.ts';
import type { Logger } from '../../core/tier/log.ts';
import {
  deleteLinksOfOtherButtons,
  type LinkSetAside,
  linksSetAside,
  markSetAside,
} from '../../sql/bio/button-links.ts';
import type { BioButton, TrackedButton } from '../../sql/bio/buttons.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import { defaultDomain, linkHosts } from '../../sql/domains/domains.ts';
import { insertDestination, updateDestination } from '../../sql/links/destinations.ts';
import { NO_SETTINGS } from '../../sql/links/link-settings.ts';
import { deleteLink, insertLinks, newLinkId, restoreLink } from '../../sql/links/links.ts';
import { claimSlugs, type SlugClaim } from '../../sql/links/slugs.ts';
import { countLinks } from '../../sql/workspaces/usage.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import type { WantedButton } from './page-request.ts';

const CHANNEL = 'bio';
/** Attempts to generate a free random slug. More collisions in a row do not happen by chance. */
const SLUG_TRIES = 8;

export type TrackingRules = { shortUrl: string; log: Pick<Logger, 'warn'> };
/** `hosts`: the workspace's own domains of short links. */
type LinkRules = TrackingRules & { hosts: readonly string[] };

/** Buttons to store, and all short links of removed buttons, whose history must be deleted. */
export type TrackedList = { buttons: BioButton[]; removed: string[] };

type Page = { id: string; slug: string };

/**
 * Gives each link button its short link: the existing one while its id stays, or a new one. A failure here does
 * not fail the save: the button links straight to its URL, and the next save tries again. If a button moves to a
 * URL that no short link may have, its link is set aside: deleted, and restored when the URL is allowed again.
 * Requires the workspace's lock, which makes the cap exact.
 *
 * @param page its slug is the links' `utm_campaign`
 * @param current the page's current buttons
 */
export async function trackButtons(
  tx: PoolClient,
  workspace: Workspace,
  page: Page,
  wanted: WantedButton[],
  current: TrackedButton[],
  { shortUrl, log }: TrackingRules,
): Promise<TrackedList> {
  const rules = { shortUrl, hosts: await linkHosts(tx, workspace.id), log };
  const key = { id: page.id, workspaceId: workspace.id };
  // A button that becomes a heading loses its history.
  const staying = wanted.filter((button) => button.type === 'link').map((button) => button.id);
  const removed = await deleteLinksOfOtherButtons(tx, key, staying);
  for (const id of removed) await deleteLink(tx, workspace.id, id);
  const before = new Map(current.map((button) => [button.id, button]));
  const aside = await linksSetAside(tx, key);
  const buttons: BioButton[] = [];
  for (const button of wanted) {
    const old = before.get(button.id);
    const linkId = button.type === 'link' ? (old?.link_id ?? null) : null;
    const link = linkId === null ? aside.get(button.id) : old;
    const isTracked = mayHaveLink(button, rules);
    if (old && link) await followButton(tx, workspace.id, link, { old, button, isTracked });
    if (linkId !== null && !isTracked) await setAside(tx, workspace.id, linkId);
    buttons.push({ ...button, link_id: isTracked ? linkId : null });
  }
  return { buttons: await linkButtons(tx, workspace, page, { buttons, aside, rules }), removed };
}

/** A short link to a short link could lead to itself; a `mailto:`, `tel:` or `sms:` URL can't be redirected to. */
function mayHaveLink({ type, url }: WantedButton, { shortUrl, hosts }: LinkRules): boolean {
  if (type !== 'link' || url === null || !/^https?:/i.test(url)) return false;
  return !isOnOrigin(url, shortUrl) && !isOnHost(url, hosts);
}

/** Deletes a button's link so that it can be restored. A link that someone else deleted meanwhile must stay deleted. */
async function setAside(tx: PoolClient, workspaceId: string, linkId: string): Promise<void> {
  if (await deleteLink(tx, workspaceId, linkId)) await markSetAside(tx, workspaceId, linkId, true);
}

/** Updates short links to their buttons' URLs, and renames their campaigns after the buttons, even while set aside. */
async function followButton(
  tx: PoolClient,
  workspaceId: string,
  link: Pick<TrackedButton, 'destination_id' | 'destination_url'>,
  { old, button, isTracked }: { old: TrackedButton; button: WantedButton; isTracked: boolean },
): Promise<void> {
  if (link.destination_id === null || button.url === null) return;
  const moved = isTracked && button.url !== link.destination_url;
  const renamed = button.label !== old.label;
  if (!moved && !renamed) return;
  await updateDestination(tx, workspaceId, link.destination_id, {
    ...(moved && { destination_url: button.url }),
    ...(renamed && { name: campaignName(button) }),
  });
}

/** Restores links that were set aside, and creates missing ones within the cap. */
async function linkButtons(
  tx: PoolClient,
  workspace: Workspace,
  page: Page,
  given: { buttons: BioButton[]; aside: Map<string, LinkSetAside>; rules: LinkRules },
): Promise<BioButton[]> {
  const { buttons, aside, rules } = given;
  const missing = buttons.filter((button) => button.link_id === null && mayHaveLink(button, rules));
  if (missing.length === 0) return buttons;
  await tx.query('SAVEPOINT tracking');
  try {
    const { links: cap } = limitsOf(workspace);
    const room = cap === null ? missing.length : cap - (await countLinks(tx, workspace.id, cap));
    const linked = new Map<string, string>();
    for (const button of missing.slice(0, Math.max(0, room))) {
      const own = aside.get(button.id);
      if (own) await bringBack(tx, workspace.id, own.link_id);
      linked.set(button.id, own?.link_id ?? (await makeLink(tx, workspace.id, page, button)));
    }
    await tx.query('RELEASE SAVEPOINT tracking');
    return buttons.map((button) => ({ ...button, link_id: button.link_id ?? linked.get(button.id) ?? null }));
  } catch (error) {
    await tx.query('ROLLBACK TO SAVEPOINT tracking');
    rules.log.warn(
      { err: error, workspace: workspace.id, page: page.slug },
      'failed to create short links of buttons; saved the page without them',
    );
    return buttons;
  }
}

async function bringBack(tx: PoolClient, workspaceId: string, linkId: string): Promise<void> {
  await restoreLink(tx, workspaceId, linkId);
  await markSetAside(tx, workspaceId, linkId, false);
}

async function makeLink(tx: PoolClient, workspaceId: string, page: Page, button: BioButton): Promise<string> {
  const id = newLinkId();
  const { number, domain } = await defaultDomain(tx, workspaceId);
  const slug = await claimRandomSlug(tx, { domainNumber: number, targetId: id, workspaceId });
  const campaign = await insertDestination(tx, {
    workspace_id: workspaceId,
    name: campaignName(button),
    destination_url: button.url ?? '',
    // A button may lead to any site, and neither sets nor requires the workspace's domain.
    external: true,
    tags: [],
    folder_id: null,
  });
  await insertLinks(tx, workspaceId, [
    {
      campaign,
      id,
      domain_number: number,
      domain,
      slug,
      channel: CHANNEL,
      external_id: null,
      metadata: null,
      utm_source: CHANNEL,
      utm_medium: utmMediumOf(CHANNEL),
      starts_at: null,
      archived: false,
      ...NO_SETTINGS,
      utm_campaign: page.slug,
    },
  ]);
  return id;
}

async function claimRandomSlug(tx: PoolClient, claim: Omit<SlugClaim, 'slug' | 'kind'>): Promise<string> {
  for (let left = SLUG_TRIES; left > 0; left--) {
    const slug = generateSlug();
    const claimed = await claimSlugs(tx, [{ ...claim, slug, kind: 'link' }]);
    if (claimed.length > 0) return slug;
  }
  throw new Error('could not generate a unique slug');
}

function campaignName({ label, url }: WantedButton): string {
  return label.trim() || (URL.parse(url ?? '')?.host ?? 'bio');
}
