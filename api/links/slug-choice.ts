import type { Channel } from '../../core/enrich/channels.ts';
import { AppError } from '../../core/errors.ts';
import { channelSlug, generateSlug, linkSlugProblem, numberedSlug, slugKey } from '../../core/slugs.ts';
import type { Link } from '../../sql/links.ts';
import type { Queryable } from '../../sql/pool.ts';
import { claimSlugs, type SlugClaim } from '../../sql/slugs.ts';

/** A link that is about to be made. */
type Draft = { id: string; channel: Channel | null };

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
  const claim = (slugs: string[]) =>
    claimSlugs(
      tx,
      drafts.map(
        ({ id }, index): SlugClaim => ({ slug: slugs[index] ?? '', kind: 'link', targetId: id, workspaceId }),
      ),
    );
  if (custom === null) return claimRandom(tx, workspaceId, drafts);
  const [draft] = drafts;
  if (draft && drafts.length === 1 && isTakenBySibling(custom, draft, siblings)) {
    return [await claimNumbered(tx, workspaceId, draft, custom)];
  }
  const wanted = slugsWanted(
    custom,
    drafts.map(({ channel }) => channel),
  );
  const claimed = await claim(wanted);
  const taken = wanted.find((slug) => !claimed.includes(slug));
  if (taken !== undefined) throw slugTaken(taken);
  return wanted;
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

async function claimRandom(tx: Queryable, workspaceId: string, drafts: Draft[]): Promise<string[]> {
  const slugs: string[] = [];
  for (const { id } of drafts) {
    const slug = await claimFirst(tx, workspaceId, id, GENERATE_TRIES, generateSlug);
    if (slug === null) throw new Error('no random slug is free');
    slugs.push(slug);
  }
  return slugs;
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
  let number = 1;
  const slug = await claimFirst(tx, workspaceId, draft.id, LAST_NUMBER, () => {
    number += 1;
    const numbered = numberedSlug(custom, number);
    if (linkSlugProblem(numbered)) {
      throw new AppError('conflict', `the slug "${custom}" is taken and "${numbered}" is too long`);
    }
    return numbered;
  });
  if (slug === null) throw slugTaken(custom);
  return slug;
}

async function claimFirst(
  tx: Queryable,
  workspaceId: string,
  linkId: string,
  tries: number,
  next: () => string,
): Promise<string | null> {
  for (let left = tries; left > 0; left--) {
    const slug = next();
    const claimed = await claimSlugs(tx, [{ slug, kind: 'link', targetId: linkId, workspaceId }]);
    if (claimed.length > 0) return slug;
  }
  return null;
}
