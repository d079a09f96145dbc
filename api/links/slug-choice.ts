import type { Channel } from '../../core/enrich/channels.ts';
import { AppError } from '../../core/errors.ts';
import { channelSlug, generateSlug, linkSlugProblem, numberedSlug, slugKey } from '../../core/links/slugs.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import type { LinkDomain } from '../../sql/domains/domains.ts';
import type { Link } from '../../sql/links/links.ts';
import { claimSlugs, type SlugClaim } from '../../sql/links/slugs.ts';

/** A link to be created. */
export type Draft = { id: string; channel: Channel | null; domain: LinkDomain };

/** Attempts to generate a free random slug. More collisions in a row do not happen by chance. */
const GENERATE_TRIES = 8;

/**
 * Claims a slug for each link: random, or the custom slug. A single link gets it verbatim, several get
 * `<slug>-<channel>`. If the campaign's link on the same channel already has the custom slug, the new link gets the
 * first free one of `<slug>-2`, `<slug>-3`…
 *
 * @param siblings the campaign's existing links
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

/** A draft with its custom slug. Null: a random one. */
export type SlugDraft = Draft & { slug: string | null };

/** Returns the drafts of one create, each with its own slug. */
export function slugDrafts(drafts: Draft[], custom: string | null): SlugDraft[] {
  const channels = drafts.map(({ channel }) => channel);
  const wanted = custom === null ? [] : slugsWanted(custom, channels);
  return drafts.map((draft, nth) => ({ ...draft, slug: wanted[nth] ?? null }));
}

/**
 * Claims a custom or random slug for each link.
 *
 * @param drafts no two with one custom slug on one domain
 * @returns the slugs in the order of the drafts
 * @throws {AppError} `conflict` when a custom slug is taken
 */
export async function claimFresh(tx: Queryable, workspaceId: string, drafts: SlugDraft[]): Promise<string[]> {
  const keys = new Set(drafts.flatMap(({ slug }) => (slug === null ? [] : [slugKey(slug)])));
  const slugs = drafts.map(({ slug }) => slug ?? randomBeside(keys));
  let open = drafts.map((draft, index) => ({ ...draft, isCustom: draft.slug !== null, index }));
  for (let left = GENERATE_TRIES; left > 0; left--) {
    const slugOf = ({ index }: { index: number }) => slugs[index] ?? '';
    const claims = open.map((draft) => claimOf(draft, slugOf(draft), workspaceId));
    const claimed = new Set((await claimSlugs(tx, claims)).map(({ targetId }) => targetId));
    open = open.filter(({ id }) => !claimed.has(id));
    const taken = open.find(({ isCustom }) => isCustom);
    if (taken) throw slugTaken(slugOf(taken));
    if (open.length === 0) return slugs;
    for (const { index } of open) slugs[index] = randomBeside(keys);
  }
  throw new Error('could not generate a unique slug');
}

function claimOf({ id, domain }: Draft, slug: string, workspaceId: string): SlugClaim {
  return { domainNumber: domain.number, slug, kind: 'link', targetId: id, workspaceId };
}

/** Returns a random slug that is not in `keys`, and adds it. */
function randomBeside(keys: Set<string>): string {
  for (;;) {
    const slug = generateSlug();
    if (keys.has(slugKey(slug))) continue;
    keys.add(slugKey(slug));
    return slug;
  }
}

/** Returns the custom slug of each link. */
export function slugsWanted(custom: string, channels: (Channel | null)[]): string[] {
  return channels.map((channel) => (channel && channels.length > 1 ? channelSlug(custom, channel) : custom));
}

/** Returns the error for a slug that is taken on its domain. */
export function slugTaken(slug: string): AppError {
  const message = `the slug "${slug}" is taken`;
  return new AppError('conflict', message, [{ path: 'slug', message: `"${slug}" is taken` }]);
}

function isTakenBySibling(custom: string, draft: Draft, siblings: Link[]): boolean {
  return siblings.some(
    (link) =>
      link.channel === draft.channel &&
      link.domain_number === draft.domain.number &&
      slugKey(link.slug) === slugKey(custom),
  );
}

/** Highest number that is tried. No campaign has that many links with one slug on one channel. */
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
    const claimed = await claimSlugs(tx, [claimOf(draft, slug, workspaceId)]);
    if (claimed.length > 0) return slug;
  }
  throw slugTaken(custom);
}
