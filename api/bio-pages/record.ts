import { imageUrl, withThemeImages } from '../../core/bio/pictures.ts';
import { shortUrlOf } from '../../core/links/short-urls.ts';
import type { Config } from '../../core/settings/config.ts';
import { buttonsOfPages, type TrackedButton } from '../../sql/bio/buttons.ts';
import type { BioPage } from '../../sql/bio/pages.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import type { BioPageRecord } from './schemas.ts';

type Origins = Pick<Config, 'publicUrl' | 'shortUrl'>;

/** Returns pages of a workspace as the API shows them, in the given order. */
export async function toRecords(
  db: Queryable,
  workspaceId: string,
  pages: BioPage[],
  origins: Origins,
): Promise<BioPageRecord[]> {
  const buttons = await buttonsOfPages(
    db,
    workspaceId,
    pages.map((page) => page.id),
  );
  return pages.map((page) => toRecord(page, buttons.get(page.id) ?? [], origins));
}

/** Returns a page as the API shows it. */
export function toRecord(
  page: BioPage,
  buttons: TrackedButton[],
  { publicUrl, shortUrl }: Origins,
): BioPageRecord {
  const { workspace_id: _, ...shown } = page;
  return {
    ...shown,
    avatar_url: page.avatar_url && imageUrl(page.avatar_url, publicUrl),
    theme: withThemeImages(page.theme, (image) => imageUrl(image, publicUrl)),
    url: `${publicUrl}/${page.slug}`,
    links: buttons.map((button) => ({
      id: button.id,
      type: button.type,
      label: button.label,
      url: button.url,
      emoji: button.emoji,
      image_url: button.image_url && imageUrl(button.image_url, publicUrl),
      tracked_link_id: button.link_id,
      short_url:
        button.link_slug && shortUrlOf(shortUrl, { domain: button.link_domain, slug: button.link_slug }),
    })),
  };
}
