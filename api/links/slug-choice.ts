import type { Channel } from '../../core/enrich/channels.ts';
import { AppError } from '../../core/errors.ts';
import { channelSlug, generateSlug, linkSlugProblem, numberedSlug, slugKey } from '../../core/links/slugs.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import type { Link } from '../../sql/links/links.ts';
import { claimSlugs, type SlugClaim } from '../../sql/links/slugs.ts';

/** A link that is about to be made. */
export type Draft = { id: string; channel: Channel | null };

/** A taken random slug is tried again; that many times in a row does not happen by chance. */
const GENERATE_TRIES = 8;

/**
 * Claims a slug for each link: random ones, or the custom slug, verbatim for one link and `<slug>-<channel>` for
 * several. Where the campaign's link on the same channel has the custom slug already, the new link gets the first
 * free one of `<slug>-2`, `<slug>-3`…
 *
 * @param siblings the links that the campaign has
 * @returns the slugs in the order of the drafts
 * @throws {AppError} `conflict` when a custom slug is taken
 */
export async function chooseSlugs(
  tx: Queryable,
  workspaceId: string,
  drafts: Draft[],
  custom: string | null,
  siblings: Link[],
): Promise<string[]> {
  const [draft] = drafts;
  if (custom !== null && draft && drafts.length === 1 && isTakenBySibling(custom, draft, siblings)) {
    return [await claimNumbered(tx, workspaceId, draft, custom)];
  }
  return claimFresh(tx, workspaceId, slugDrafts(drafts, custom));
}

/** A draft with the custom slug that its link is to have; null: a random one. */
export type SlugDraft = Draft & { slug: string | null };

/** The drafts of one create, each with its own slug. */
export function slugDrafts(drafts: Draft[], custom: string | null): SlugDraft[] {
  const channels = drafts.map(({ channel }) => channel);
  const wanted = custom === null ? [] : slugsWanted(custom, channels);
  return drafts.map((draft, nth) => ({ ...draft, slug: wanted[nth] ?? null }));
}

/**
 * Claims a slug for each link: the custom one, or a random one.
 *
 * @param drafts no two of which want one slug
 * @returns the slugs in the order of the drafts
 * @throws {AppError} `conflict` when a custom slug is taken
 */
export async function claimFresh(tx: Queryable, workspaceId: string, drafts: SlugDraft[]): Promise<string[]> {
  const keys = new Set(drafts.flatMap(({ slug }) => (slug === null ? [] : [slugKey(slug)])));
  const slugs = drafts.map(({ slug }) => slug ?? randomBeside(keys));
  let open = drafts.map(({ id, slug }, index) => ({ id, isCustom: slug !== null, index }));
  for (let left = GENERATE_TRIES; left > 0; left--) {
    const slugOf = ({ index }: { index: number }) => slugs[index] ?? '';
    const claims = open.map(
      (draft): SlugClaim => ({ slug: slugOf(draft), kind: 'link', targetId: draft.id, workspaceId }),
    );
    const claimed = new Set(await claimSlugs(tx, claims));
    open = open.filter((draft) => !claimed.has(slugOf(draft)));
    const taken = open.find(({ isCustom }) => isCustom);
    if (taken) throw slugTaken(slugOf(taken));
    if (open.length === 0) return slugs;
    for (const { index } of open) slugs[index] = randomBeside(keys);
  }
  throw new Error('could not generate a unique slug');
}

/** A random slug that none of these is, and which is then one of them. */
function randomBeside(keys: Set<string>): string {
  for (;;) {
    const slug = generateSlug();
    if (keys.has(slugKey(slug))) continue;
    keys.add(slugKey(slug));
    return slug;
  }
}

/** What a custom slug becomes for each link. */
export function slugsWanted(custom: string, channels: (Channel | null)[]): string[] {
  return channels.map((channel) => (channel && channels.length > 1 ? channelSlug(custom, channel) : custom));
}

/** The refusal of a slug that something of the deployment has. */
export function slugTaken(slug: string): AppError {
  const message = `the slug "${slug}" is taken`;
  return new AppError('conflict', message, [{ path: 'slug', message: `"${slug}" is taken` }]);
}

function isTakenBySibling(custom: string, draft: Draft, siblings: Link[]): boolean {
  return siblings.some((link) => link.channel === draft.channel && slugKey(link.slug) === slugKey(custom));
}

/** Numbers are tried up to this; a campaign has not that many links of one slug on one channel. */
const LAST_NUMBER = 10_000;

async function claimNumbered(
  tx: Queryable,
  workspaceId: string,
  draft: Draft,
  custom: string,
): Promise<string> {
  for (let number = 2; number <= LAST_NUMBER; number++) {
    const slug = numberedSlug(custom, number);
    if (linkSlugProblem(slug)) {
      throw new AppError('conflict', `the slug "${custom}" is taken and "${slug}" is too long`);
    }
    const claimed = await claimSlugs(tx, [{ slug, kind: 'link', targetId: draft.id, workspaceId }]);
    if (claimed.length > 0) return slug;
  }
  throw slugTaken(custom);
}
